/** The API of spaces: its types, query and mutations. */
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api";
import { changed, ROOT } from "../notes";

export const TEAM = "team";

export type Access = "none" | "read" | "write";

export interface Space {
  name: string;
  title: string;
  access: Access;
  notes: number;
  /** For admins only, as are the grants. */
  everybody: Access | null;
  grants: Record<string, Access> | null;
}

interface SpaceList {
  spaces: Space[];
}

const SPACES = `${ROOT}/spaces`;
const one = (name: string) => `${SPACES}/${encodeURIComponent(name)}`;

/** The spaces that the user may read, the team's first. */
export function useSpaces(): Space[] {
  const { data } = useQuery({
    queryKey: ["knowledge", "spaces"],
    queryFn: ({ signal }) => api.get<SpaceList>(SPACES, { signal }),
  });
  return data?.spaces ?? [];
}

export const spaces = {
  save: (name: string, change: { title?: string; everybody?: Access }) =>
    changed(api.put<SpaceList>(one(name), change)),
  grant: (name: string, user: string, access: Access) =>
    changed(api.put<SpaceList>(`${one(name)}/users/${encodeURIComponent(user)}`, { access })),
  delete: (name: string) => changed(api.delete<{ moved: number }>(`${one(name)}?move_to=${TEAM}`)),
};
