/** The API of projects: its types, queries and mutations. */
import { useQuery } from "@tanstack/react-query";
import type { Attachment } from "../../../core/attachment";
import { api } from "../../api";
import { queryClient } from "../../query";

export type Role = "owner" | "editor" | "viewer";

export interface Project {
  project_id: string;
  name: string;
  instructions: string;
  agent_id: string | null;
  space: string | null;
  created_at: string;
  updated_at: string;
  archived: boolean;
  role: Role;
}

export interface ProjectDetails extends Project {
  files: Attachment[];
  members: { user_id: string; role: Role }[];
  /** Those of the user. */
  conversations: number;
}

interface ProjectShare {
  token: string;
  title: string;
  user_id: string;
  created_at: string;
}

export type Change = Partial<Pick<Project, "name" | "instructions" | "agent_id" | "space" | "archived">>;

const ROOT = "/api/projects";
export const projectPath = (id: string, ...rest: string[]) => [ROOT, id, ...rest].map(escaped).join("/");
const escaped = (part: string, index: number) => (index ? encodeURIComponent(part) : part);

export function useProjects() {
  return useQuery({
    queryKey: ["projects"],
    queryFn: ({ signal }) => api.get<{ projects: Project[] }>(ROOT, { signal }),
  });
}

export function useProject(id: string | null) {
  return useQuery({
    queryKey: ["projects", id],
    enabled: id !== null,
    queryFn: ({ signal }) => api.get<ProjectDetails>(projectPath(id ?? ""), { signal }),
  });
}

export function useProjectShares(id: string) {
  return useQuery({
    queryKey: ["projects", id, "shares"],
    queryFn: ({ signal }) => api.get<{ shares: ProjectShare[] }>(projectPath(id, "shares"), { signal }),
  });
}

/** Lists and projects on the screen are loaded again after a change. */
async function changed<T>(change: Promise<T>): Promise<T> {
  const result = await change;
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["projects"] }),
    queryClient.invalidateQueries({ queryKey: ["sessions"] }),
  ]);
  return result;
}

export const projects = {
  create: (name: string) => changed(api.post<Project>(ROOT, { name })),
  change: (id: string, change: Change) => changed(api.patch<Project>(projectPath(id), change)),
  delete: (id: string, conversations: "keep" | "delete") =>
    changed(api.delete(projectPath(id), { query: { conversations } })),
  addFile: (id: string, file: File) => {
    const form = new FormData();
    form.append("file", file);
    return changed(api.post<Attachment>(projectPath(id, "files"), form));
  },
  removeFile: (id: string, file: string) => changed(api.delete(projectPath(id, "files", file))),
  setMember: (id: string, user: string, role: Role) =>
    changed(api.put(projectPath(id, "members", user), { role })),
  removeMember: (id: string, user: string) => changed(api.delete(projectPath(id, "members", user))),
  move: (session: string, project: string | null) =>
    changed(api.patch(`/api/sessions/${encodeURIComponent(session)}`, { project_id: project })),
};
