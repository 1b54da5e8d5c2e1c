/**
 * Replacements of parts of the project's own copy of LangGraph.js for speed: one file a shortcut.
 * Each is taken only if the source of the functions is known (known-sources.ts), and has the
 * results of the library. The gains are in docs/architecture.md, "Speed, measured".
 *
 * | shortcut (its file) | risk | test | |---|---|---| | bare-stream | uses a private method of the
 * engine | shortcuts.test.ts | | append-path | of changes in place, notices only some |
 * append-path, changed-state.test.ts |
 *
 * Off switch: HEDDLE_ENGINE_SHORTCUTS, `off` for all, or the names of some.
 */

import type { GraphLibrary } from '../project/library.ts'
import { ChannelUpdates } from '../state/channel-updates.ts'
import type { ChannelClass } from '../state/channel-updates.ts'
import { knownReducers } from './append-path.ts'
import type { MessagesReducer } from './append-path.ts'
import { BareStream } from './bare-stream.ts'
import type { PregelMethods } from './bare-stream.ts'
import { isKnown } from './known-sources.ts'

const shortcutNames = ['bare-stream', 'append-path'] as const
/** As the setting calls it. */
export type ShortcutName = typeof shortcutNames[number]

/** The shortcuts that the setting leaves on; all without one. */
export function shortcutsOn(setting = ''): ReadonlySet<ShortcutName> {
  const off = new Set(setting.split(',').map((name) => name.trim()))
  return new Set(off.has('off') ? [] : shortcutNames.filter((name) => !off.has(name)))
}

/** The replacements that the runs of a worker use; undefined for one that was not taken. */
export interface Shortcuts {
  readonly updates: ChannelUpdates | undefined
  readonly bareStream: BareStream | undefined
}

/** The shortcuts that were taken, and those that do not know the project's copy of the library. */
export interface TakenShortcuts extends Shortcuts {
  readonly unknown: readonly ShortcutName[]
}

/** Takes the shortcuts that are on and fit the project's copy of the library, once per worker. */
export async function takeShortcuts({ langgraph }: Pick<GraphLibrary, 'langgraph'>,
  on: ReadonlySet<ShortcutName>): Promise<TakenShortcuts> {
  const [{ Runnable }, { Pregel }] = await Promise.all([
    import('@langchain/core/runnables'),
    import('@langchain/langgraph/pregel'),
  ])
  const reducer = langgraph.messagesStateReducer as MessagesReducer
  const methods: PregelMethods = Pregel.prototype
  const unknown: ShortcutName[] = []
  const take = <Taken>(name: ShortcutName, functions: readonly unknown[], work: () => Taken) => {
    if (!on.has(name)) return undefined
    if (isKnown(...functions)) return work()
    unknown.push(name)
    return undefined
  }
  const bareStream = take('bare-stream', [methods.stream, methods._streamIterator,
    Runnable.prototype.stream], () => new BareStream(methods))
  const updates = take('append-path', [reducer], () => watchedUpdates(langgraph, reducer))
  return { updates, bareStream, unknown }
}

function watchedUpdates({ BinaryOperatorAggregate }: GraphLibrary['langgraph'],
  reducer: MessagesReducer): ChannelUpdates {
  const updates = new ChannelUpdates(knownReducers(reducer))
  updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
  return updates
}
