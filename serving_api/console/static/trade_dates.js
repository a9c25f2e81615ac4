// Steps through the trade dates of the calendar.

import { address, read, shared } from "./api.js";

const months = new Map();

function month(year, number) {
  const name = `${year}-${number}`;
  if (!months.has(name)) months.set(name, shared({ url: address("market/calendar", { year, month: number }) }));
  return read(months.get(name));
}

/** The trade date before (`step` -1) or after (1) a date, up to today; null where there is none. */
export async function nextDate(from, step) {
  let [year, number] = from.split("-").map(Number);
  for (let tries = 0; tries < 3; tries += 1) {
    let found;
    try {
      found = await month(year, number);
    } catch {
      return null;
    }
    const open = found.days.filter((day) => day.is_open && day.date <= found.today).map((day) => day.date);
    const next = step < 0 ? open.filter((day) => day < from).at(-1) : open.find((day) => day > from);
    if (next) return next;
    if (step > 0 && found.days.at(-1).date >= found.today) return null;
    number += step;
    if (number === 0 || number === 13) [year, number] = [year + step, number === 0 ? 12 : 1];
  }
  return null;
}
