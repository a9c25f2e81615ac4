// The interval of a rate: Wilson's score interval, which stays within 0 and 100 for few observations too.

const Z_95 = 1.959964;

/** [low, high] in percent of a rate in percent that was seen in `count` cases; null without a case. */
export function wilson(rate, count, z = Z_95) {
  if (!(count > 0) || rate === null || rate === undefined) return null;
  const share = rate / 100;
  const scale = 1 + (z * z) / count;
  const middle = (share + (z * z) / (2 * count)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [100 * Math.max(0, middle - half), 100 * Math.min(1, middle + half)];
}
