// Plotly in the colours of the page. It is large: it is loaded by itself, beside the answers of the API, so that
// nothing else waits for it.

import { el, html } from "./dom.js";

const style = getComputedStyle(html);
const color = (name) => style.getPropertyValue(`--${name}`).trim();
// A token that names another one is resolved by an element that uses it.
function resolved(name) {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(--${name})`;
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

export const colors = {
  ink: color("ink"), faint: color("faint"), line: color("line"), panel: color("panel"), accent: color("accent"),
  rise: resolved("rise"), fall: resolved("fall"),
  series: html.dataset.theme === "dark" ? ["#8ab8f0", "#f0c05a", "#c79bf2", "#6fd3c7"] : ["#1d4f91", "#9a6700", "#7a3fb0", "#0b7285"],
};
const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: true };
const axis = () => ({ gridcolor: colors.line, zerolinecolor: colors.line, linecolor: colors.line, tickfont: { color: colors.faint } });

let loaded = null;

/** Load Plotly; `first` is a promise of what the browser should have done before. */
export function loadPlotly(first = null) {
  loaded ??= Promise.resolve(first).then(() => new Promise((resolve, reject) => {
    const failed = () => {
      loaded = null;
      reject(new Error("plotly.min.js"));
    };
    document.head.append(el("script", { src: new URL("plotly.min.js", import.meta.url), onload: () => resolve(window.Plotly), onerror: failed }));
  }));
  return loaded;
}

/** The point of a click: where a chart shows the points of a date together, the one nearest to the mouse. */
function nearest({ points, event }, target) {
  const y = event.clientY - target.getBoundingClientRect().top;
  const away = ({ yaxis, y: value, close }) => Math.abs((yaxis?.d2p(value ?? close) ?? NaN) + yaxis?._offset - y) || Infinity;
  return points.reduce((best, one) => (away(one) < away(best) ? one : best));
}

/** Clicks of a figure become the event `point` with {x, meta, about}: `meta` of the trace, `about` its customdata there. */
function reports(target) {
  if (target.dataset.reports) return;
  target.dataset.reports = "1";
  target.on("plotly_click", (click) => {
    const point = nearest(click, target);
    target.dispatchEvent(new CustomEvent("point", { detail: { x: point.x, meta: point.data.meta, about: point.customdata }, bubbles: true }));
  });
}

/** Draw traces into a panel's body; `layout` is laid over the common one, each axis over a common axis. */
export async function draw(target, traces, layout = {}, config = {}) {
  const plotly = await loadPlotly();
  const axes = Object.fromEntries(Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name)).map(([name, one]) => [name, { ...axis(), ...(name.startsWith("x") ? { tickangle: 0 } : {}), ...one }]));
  const common = {
    xaxis: axis(), yaxis: axis(), paper_bgcolor: colors.panel, plot_bgcolor: colors.panel, showlegend: false,
    font: { color: colors.ink, size: 12, family: style.getPropertyValue("--font") }, hoverlabel: { font: { color: colors.ink }, bgcolor: colors.panel },
    margin: { l: 8, r: 56, t: 8, b: 28 }, dragmode: "pan", autosize: true,
  };
  await plotly.react(target, traces, { ...common, ...layout, ...axes }, { ...CONFIG, ...config });
  reports(target);
  return true;
}
