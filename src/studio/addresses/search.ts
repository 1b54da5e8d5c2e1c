/** Reads search parameters of addresses: a link in a ticket may hold anything. */

/** Parsed query of the address bar, with values that are not checked yet. */
type RawSearch = Readonly<Record<string, unknown>>

/** Reads a parameter; undefined for a value that it may not have. */
type Parameter = (given: unknown) => unknown

/** Parameters of a page as its address has them: each may be left out. */
type Search<Parameters extends Readonly<Record<string, Parameter>>> = {
  readonly [Name in keyof Parameters]?: ReturnType<Parameters[Name]>
}

/** A reader of the parameters of a page. */
export const searchOf =
  <Parameters extends Readonly<Record<string, Parameter>>>(parameters: Parameters) =>
  (raw: RawSearch) =>
    Object.fromEntries(
      Object.entries(parameters).map(([name, read]) => [name, read(raw[name])]),
    ) as Search<Parameters>

/** A text, also one that looks like a number; an empty one is none. */
export function text(given: unknown): string | undefined {
  if (typeof given === 'number' || typeof given === 'boolean') return String(given)
  return typeof given === 'string' && given !== '' ? given : undefined
}

/** A list of texts; an empty one is none. */
export function texts(given: unknown): readonly string[] | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined
  const read = given.map(text)
  return read.every((each) => each !== undefined) ? read : undefined
}

/** A time, as an ISO text in UTC. */
export function time(given: unknown): string | undefined {
  const ms = typeof given === 'string' ? Date.parse(given) : NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** One of the given words. */
export const oneOf = <const Word extends string>(words: readonly Word[]) => (given: unknown) =>
  words.find((word) => word === given)

/** A whole number from the given one on. */
export const wholeNumber = (least: number) => (given: unknown) => {
  const number = Number(given)
  return Number.isSafeInteger(number) && number >= least ? number : undefined
}
