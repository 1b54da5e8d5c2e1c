/** One place of each span, for reads that name no project. */

import type { SpanPlace, Uuid } from './span.ts'

/** The first place of each span, or the one in a project that `prefers` accepts. */
export function firstPlaces(places: readonly SpanPlace[],
  prefers: (place: SpanPlace) => boolean = () => false): ReadonlyMap<Uuid, SpanPlace> {
  const first = new Map<Uuid, SpanPlace>()
  for (const place of places) {
    const known = first.get(place.id)
    if (known === undefined || (prefers(place) && !prefers(known))) first.set(place.id, place)
  }
  return first
}
