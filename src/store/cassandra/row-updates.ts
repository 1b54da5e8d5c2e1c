/** Tells apart the rows and updates of one append. Pure. */

import type { Branch, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { NewRow, RowUpdate } from '../../checkpoint/index.ts'
import { idOf, isOwnedTable, ownedKey } from './index/owned-row.ts'
import type { OwnedUpdate } from './index/owned-row.ts'

/** True for the first row of a copy. */
export function isFirstOfCopy({ branch, seq }: NewRow): boolean {
  const source = branch.ancestors.at(-1)
  return source !== undefined && source.through > 0 && seq === source.through + 1
}

/** True if the branch begins with the row. */
function isFirstOf({ branch, seq }: NewRow, own: Branch | undefined): boolean {
  return branch.id === own?.id && seq === (branch.ancestors.at(-1)?.through ?? 0) + 1
}

/** Ids of the branches that begin with these rows, with the row of their thread. */
export function bornIn(rows: readonly NewRow[], updates: readonly RowUpdate[]): readonly string[] {
  return updates.flatMap((update) =>
    update.table === 'thread' && rows.some((each) => isFirstOf(each, update.row.branch))
      ? [update.row.branch!.id]
      : []
  )
}

/**
 * True if the rows are the first ones of threads, whose branches are `born`, and nothing but rows
 * of these threads and their runs is said. Who billed a run that is never acknowledged could not
 * take that back.
 */
export function areOnlyBirths(rows: readonly NewRow[], updates: readonly RowUpdate[],
  born: readonly string[]): boolean {
  return born.length > 0 && rows.every(({ branch }) => born.includes(branch.id))
    && updates.every((update) =>
      isOfThread(update)
      && updates.some((each) =>
        each.table === 'thread' && subjectOf(each) === subjectOf(update)
        && born.includes(each.row.branch!.id)
      )
    )
}

/** Threads that begin, where runs of an earlier thread with the same id may be left. */
interface BegunThreads {
  /** Subjects of those that begin with a run, whose write can remove these. */
  readonly withRuns: ReadonlySet<string>
  readonly withoutRuns: readonly ThreadRow[]
}

/** The threads that begin with these rows. */
export function begunThreads(rows: readonly NewRow[], updates: readonly RowUpdate[]): BegunThreads {
  const begun = updates.flatMap((update) =>
    update.table === 'thread'
      && rows.some((each) => isFirstOf(each, update.row.branch) && !each.isNewId)
      ? [update]
      : []
  )
  const ofRuns = new Set(
    updates.flatMap((update) =>
      update.table === 'run' && update.row.createdSeq === 1 ? [subjectOf(update)] : []
    ),
  )
  return { withRuns: new Set(begun.map(subjectOf).filter((subject) => ofRuns.has(subject))),
    withoutRuns: begun.filter((update) => !ofRuns.has(subjectOf(update))).map(({ row }) => row) }
}

/** True for the row of a thread or of a run. */
function isOfThread({ table }: RowUpdate): boolean {
  return table === 'thread' || table === 'run'
}

/** True for a row that belongs to a shard. */
export function isOwned<Each extends { readonly update: RowUpdate }>(
  each: Each,
): each is Each & { readonly update: OwnedUpdate } {
  return isOwnedTable(each.update.table)
}

/** The epoch that an update carries, if any. */
export function epochIn(update: RowUpdate): readonly number[] {
  if (isOwnedUpdate(update)) return [update.row.epoch]
  return update.table === 'item_removed' ? [update.epoch] : []
}

function isOwnedUpdate(update: RowUpdate): update is OwnedUpdate {
  return isOwnedTable(update.table)
}

/** The thread, assistant, cron or item that an update belongs to. */
export function subjectOf(update: RowUpdate): string {
  switch (update.table) {
    case 'assistant':
      return ownedKey('assistant', update.row.tenant, update.row.assistantId)
    case 'cron':
      return ownedKey('cron', update.row.tenant, update.row.cronId)
    case 'item':
      return ownedKey('item', update.row.tenant, idOf(update.row))
    case 'item_removed':
      return ownedKey('item', update.tenant, update.id)
    case 'run_removed':
      return ownedKey('thread', update.tenant, update.threadId)
    default:
      return ownedKey('thread', update.row.tenant, update.row.threadId)
  }
}
