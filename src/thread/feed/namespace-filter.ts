/** Keeps the events of some namespaces of a run, without those of the subagents started there. */

import type { FeedEvent, FeedListener } from '../model/thread-client.ts'

/** Namespaces as clients write them: segments joined by `|`, and the empty text for the root. */
export type Namespaces = readonly string[]

/** Events of these modes name the task that they come from, and not only its graph. */
const namesTask: ReadonlySet<string> = new Set(['messages', 'tools'])

/** A tool that is called, or a task that is given to a subagent. */
const startsSubagent = /^(?:tools|task):/

/** Passes on what belongs to one of the namespaces, and what belongs to none. */
export function onlyIn(namespaces: Namespaces, listener: FeedListener): FeedListener {
  const asked = namespaces.map(segmentsOf)
  const isIn = ({ name }: FeedEvent) => {
    const [kind, ...segments] = segmentsOf(name)
    const graph = namesTask.has(kind!) ? segments.slice(0, -1) : segments
    return asked.some((around) => isWithin(graph, around))
  }
  return {
    events: (batch) => {
      const events = batch.filter((event) => isForAll(event) || isIn(event))
      if (events.length > 0) listener.events(events)
    },
    ready: () => listener.ready?.(),
    ended: (how) => listener.ended(how),
  }
}

function isForAll({ name }: FeedEvent): boolean {
  return name === 'metadata' || name === 'error' || name === 'end'
}

function segmentsOf(namespace: string): string[] {
  return namespace === '' ? [] : namespace.split('|')
}

function isWithin(namespace: readonly string[], around: readonly string[]): boolean {
  return around.every((segment, at) => namespace[at] === segment)
    && !namespace.slice(around.length).some((segment) => startsSubagent.test(segment))
}
