// Rectangles whose areas are in the proportion of values, as near to squares as they get
// (Bruls, Huizing, van Wijk: Squarified treemaps, 2000).

/** The worst side ratio of a row of cells: `sum` of their areas along a side, with the extremes among them. */
const worst = (sum, least, most, side) => Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));

/** Rectangles [x, y, width, height] that fill a box, one for each of the positive `values`, the largest first. */
export function squarified(values, x, y, width, height) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const cells = [];
  if (!(total > 0) || width <= 0 || height <= 0) return values.map(() => [x, y, 0, 0]);
  const scale = (width * height) / total;
  let at = 0;
  while (at < values.length) {
    const side = Math.min(width, height);
    const most = values[at] * scale;
    let [end, sum] = [at + 1, most];
    while (end < values.length) {
      const [last, next] = [values[end - 1] * scale, values[end] * scale];
      if (worst(sum + next, next, most, side) > worst(sum, last, most, side)) break;
      sum += next;
      end += 1;
    }
    const depth = side > 0 ? sum / side : 0;
    const isUpright = width >= height;
    for (let along = 0; at < end; at += 1) {
      const length = depth > 0 ? (values[at] * scale) / depth : 0;
      cells.push(isUpright ? [x, y + along, depth, length] : [x + along, y, length, depth]);
      along += length;
    }
    if (isUpright) [x, width] = [x + depth, Math.max(0, width - depth)];
    else [y, height] = [y + depth, Math.max(0, height - depth)];
  }
  return cells;
}
