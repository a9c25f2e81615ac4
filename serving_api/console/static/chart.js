// Plotly in the colours of the page.

import { html } from "./dom.js";

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

/** Draw traces into a panel's body; `layout` is laid over the common one, each axis over a common axis. */
export function draw(target, traces, layout = {}, config = {}) {
  const axes = Object.fromEntries(Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name)).map(([name, one]) => [name, { ...axis(), ...one }]));
  const common = {
    xaxis: axis(), yaxis: axis(), paper_bgcolor: colors.panel, plot_bgcolor: colors.panel, showlegend: false,
    font: { color: colors.ink, size: 12, family: style.getPropertyValue("--font") }, hoverlabel: { font: { color: colors.ink }, bgcolor: colors.panel },
    margin: { l: 8, r: 56, t: 8, b: 28 }, dragmode: "pan", autosize: true,
  };
  return window.Plotly.react(target, traces, { ...common, ...layout, ...axes }, { ...CONFIG, ...config });
}
