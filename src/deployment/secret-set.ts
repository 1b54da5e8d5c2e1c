/** Secrets of a deployment as sets: code and a set are one version, which has to load. Pure. */

/** One value, which never changes: another value has another place. */
export interface SecretEntry {
  readonly name: string
  /** Number of times that this name was set. */
  readonly version: number
  readonly updatedAtMs: number
  /** Place of the sealed value; null for one that a change removes. */
  readonly place: string | null
}

/** All values that a process gets, or a change of some of them: each name once. */
export type SecretSet = readonly SecretEntry[]

/** The set that was loaded last, and the version that the deployment had then. */
export interface LoadedSecrets {
  readonly envVersion: number
  readonly entries: SecretSet
}

/** The changes of both; the later ones count. */
export function mergedChanges(changes: SecretSet, later: SecretSet): SecretSet {
  const byName = new Map([...changes, ...later].map((entry) => [entry.name, entry]))
  return [...byName.values()].toSorted((one, other) => one.name < other.name ? -1 : 1)
}

/** A set after changes: removed names are left out. */
export function afterChanges(set: SecretSet, changes: SecretSet): SecretSet {
  return mergedChanges(set, changes).filter(({ place }) => place !== null)
}

/** The kept changes that came after others were taken. */
export function keptSince(kept: SecretSet, taken: SecretSet): SecretSet {
  const known = new Set(taken.map((entry) => entryKey(entry)))
  return kept.filter((entry) => !known.has(entryKey(entry)))
}

function entryKey({ name, version, updatedAtMs, place }: SecretEntry): string {
  return JSON.stringify([name, version, updatedAtMs, place])
}

/** Changes that turn one set into another. */
export function changesBetween(before: SecretSet, after: SecretSet): SecretSet {
  const places = placesByName(before)
  const names = new Set(after.map(({ name }) => name))
  const removed = before.filter(({ name }) => !names.has(name))
    .map((entry) => ({ ...entry, place: null }))
  return [...after.filter(({ name, place }) => places.get(name) !== place), ...removed]
}

/** A text that two sets share only if they have the same values. */
export function secretsKey(set: SecretSet): string {
  return JSON.stringify(mergedChanges(set, []).map(({ name, place }) => [name, place]))
}

function placesByName(set: SecretSet): ReadonlyMap<string, string | null> {
  return new Map(set.map(({ name, place }) => [name, place]))
}
