import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect } from "react";
import { useAfterStart } from "../../after-start";
import { queryClient } from "../../query";
import { monthQuery } from "../usage/usage";

const LimitWarning = lazy(() => import("./limit-warning"));

/** Above the message field once most of a limit is used; asked again after each answer. */
export function LimitNotice({ live }: { live: string | null }) {
  const { data } = useQuery({ ...monthQuery, staleTime: 60_000, retry: false, enabled: useAfterStart() });
  const limited = Boolean(data?.limits.length);
  useEffect(() => {
    if (live === null && limited) void queryClient.invalidateQueries({ queryKey: monthQuery.queryKey });
  }, [live, limited]);
  if (!data?.limits.some((limit) => limit.state !== "ok")) return null;
  return (
    <Suspense fallback={null}>
      <LimitWarning month={data} />
    </Suspense>
  );
}
