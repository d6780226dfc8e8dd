import { useMemo } from "react";
import { layoutGraph, NODE_HEIGHT, NODE_WIDTH } from "../../../../src/chie/n8n/graph_layout.js";
import { useText } from "../../i18n/language";
import { workflowsText } from "../../i18n/strings/workflows";
import { languageOf } from "../knowledge/notes";
import type { Execution, Graph, GraphNode } from "./workflows";

/** The workflow's graph with the nodes that an execution ran, and the same as a list for screen readers. */
export function WorkflowGraph({ graph, execution }: { graph: Graph; execution: Execution | undefined }) {
  const t = useText(workflowsText);
  const { boxes, lines, view } = useMemo(() => layoutGraph(graph.nodes, graph.links), [graph]);
  const ran = new Set(execution?.nodes?.map((node) => node.node));
  const failed = execution?.failed?.node;
  if (boxes.length === 0) return <p className="muted">{t.empty}</p>;
  return (
    <figure className="wf-figure">
      <div
        className="wf-scroll"
        tabIndex={0}
        role="group"
        aria-label={t.graph(graph.workflow.name, graph.nodes.length)}
      >
        <svg
          className="wf-graph"
          viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`}
          style={{
            width: `min(100%, ${view.width}px)`,
            minWidth: `${Math.min(view.width, view.width * 0.6)}px`,
          }}
          aria-hidden="true"
        >
          <defs>
            <marker
              id="wf-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0.5 7 4 0 7.5z" />
            </marker>
          </defs>
          {lines.map((line) => (
            <g key={`${line.source}/${line.kind}/${line.output}/${line.target}/${line.input}`}>
              <path
                className={`wf-line ${line.kind === "main" ? "" : "sub-node"} ${ran.has(line.source) && ran.has(line.target) ? "ran" : ""}`}
                d={line.path}
                markerEnd="url(#wf-arrow)"
              />
              {line.label && (
                <text className="wf-port" x={line.label.x} y={line.label.y}>
                  {line.label.text}
                </text>
              )}
            </g>
          ))}
          {boxes.map((box) => (
            <NodeBox
              key={box.name}
              box={box}
              state={box.name === failed ? "failed" : ran.has(box.name) ? "ran" : ""}
            />
          ))}
        </svg>
      </div>
      <details className="wf-as-list">
        <summary>{t.asList}</summary>
        <ul>
          {graph.nodes.map((node) => (
            <li key={node.name}>
              <strong lang={languageOf(node.name)}>{node.name}</strong>{" "}
              <span className="muted">{node.type}</span>
              {node.trigger && <span className="tag">{t.trigger}</span>}
              {node.disabled && <span className="tag">{t.disabled}</span>}
              {node.name === failed && <span className="wf-failed-tag">{t.failed}</span>}
              <span className="muted">
                {" → "}
                {graph.links
                  .filter((link) => link.source === node.name)
                  .map((link) => link.target)
                  .join(", ") || t.end}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </figure>
  );
}

function NodeBox({ box, state }: { box: GraphNode; state: string }) {
  const kind = box.trigger ? "trigger" : box.type.startsWith("langchain.") ? "ai" : "";
  return (
    <g
      className={`wf-node ${kind} ${state} ${box.disabled ? "off" : ""}`}
      transform={`translate(${box.x} ${box.y})`}
    >
      <title>{box.notes ? `${box.name}: ${box.notes}` : box.name}</title>
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={box.trigger ? NODE_HEIGHT / 2 : 10} />
      <foreignObject width={NODE_WIDTH} height={NODE_HEIGHT}>
        <div className="wf-box">
          <span className="wf-badge">
            {state === "failed" ? "!" : (box.type.split(".").at(-1)?.[0] ?? "")}
          </span>
          <span className="wf-box-text">
            <span className="wf-box-name" lang={languageOf(box.name)}>
              {box.name}
            </span>
            <span className="wf-box-type">{box.type}</span>
          </span>
        </div>
      </foreignObject>
    </g>
  );
}
