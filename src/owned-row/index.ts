/** The row of one actor over a log of its own, and the commands that an actor has done. */

export { appliedRecords, findApplied, ignoreDeletedByThis, withApplied } from './applied-command.ts'
export { orFail } from './or-fail.ts'
export { branchOf, OwnedRow } from './owned-row.ts'
export type { OwnedRowKind, OwnedRowLog } from './owned-row.ts'
