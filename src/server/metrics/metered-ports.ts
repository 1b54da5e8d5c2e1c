/** The ports of the store, with metrics of what passes through them. */

import type { Env, SessionPort, ShardPort } from '../../../cluster/index.ts'
import type { LogPort, RowUpdate } from '../../checkpoint/index.ts'
import type { Metrics } from './metrics.ts'

type Clock = Pick<Env, 'monotonicMs'>

/** The statuses of runs that have ended. */
const endings: ReadonlySet<string> = new Set(['success', 'error', 'timeout', 'interrupted'])

/** Counts appends of the log, their duration, and the runs that end in them. */
export function meteredLog(log: LogPort, metrics: Metrics, clock: Clock): LogPort {
  const took = metrics.duration({
    name: 'log_append_duration_seconds',
    labels: ['outcome'],
    help: 'From an append to the log until it is durable (ok), or is known not to be (failed).',
  })
  const rowsWritten = metrics.count({ name: 'log_rows_total', help: 'Rows appended to logs.' })
  const bytesWritten = metrics.count({
    name: 'log_bytes_total',
    help: 'Bytes of the rows appended to logs.',
  })
  const runsEnded = metrics.count({
    name: 'runs_ended_total',
    labels: ['status'],
    help: 'Runs whose end was written down by this member, by how they ended.',
  })
  return {
    shared: log.shared,
    newBranchId: () => log.newBranchId(),
    open: (branch, epoch) => log.open(branch, epoch),
    append: (rows, updates, logged) => {
      const beganMs = clock.monotonicMs()
      // Counted before, because the store may take the bodies away.
      const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
      const appended = log.append(rows, updates, logged)
      const since = () => clock.monotonicMs() - beganMs
      appended.then(() => {
        took(since(), ok)
        rowsWritten({}, rows.length)
        bytesWritten({}, bytes)
        for (const status of endingsIn(updates)) runsEnded({ status })
      }, () => took(since(), failed))
      return appended
    },
    tail: (branch) => log.tail(branch),
    read: (branch, range) => log.read(branch, range),
    findCheckpoint: (...lookup) => log.findCheckpoint(...lookup),
    purge: (subject) => log.purge(subject),
  }
}

const [ok, failed] = [{ outcome: 'ok' }, { outcome: 'failed' }]

function* endingsIn(updates: readonly RowUpdate[]): Generator<string> {
  for (const update of updates) {
    if (update.table === 'run' && endings.has(update.row.status)) yield update.row.status
  }
}

/** Counts uses of sessions. Reads of this member's own session are the ownership checks. */
export function meteredSessions(sessions: SessionPort, metrics: Metrics,
  clock: Clock): SessionPort {
  const validated = metrics.duration({
    name: 'gate_validation_duration_seconds',
    labels: ['outcome'],
    help:
      'Reads of the own session before anything is acknowledged: it is alive, ended (over), or ' +
      'cannot be read (failed).',
  })
  const fences = metrics.count({
    name: 'fences_total',
    labels: ['outcome'],
    help: 'Sessions of other members that this one ended, or found ended.',
  })
  let own: string | undefined
  const validate = async (session: string) => {
    const beganMs = clock.monotonicMs()
    let outcome = 'failed'
    try {
      const state = await sessions.state(session)
      outcome = state === 'alive' ? 'alive' : 'over'
      return state
    } finally {
      validated(clock.monotonicMs() - beganMs, { outcome })
    }
  }
  return {
    join: (member) => {
      own = member.id
      return sessions.join(member)
    },
    state: (session) => session === own ? validate(session) : sessions.state(session),
    fence: async (session, by) => {
      const outcome = await sessions.fence(session, by)
      fences({ outcome })
      return outcome
    },
    leave: (session) => sessions.leave(session),
  }
}

/** Counts shards that this member takes, and from whom, and shards that it gives back. */
export function meteredShards(shards: ShardPort, metrics: Metrics): ShardPort {
  const taken = metrics.count({
    name: 'shards_taken_total',
    labels: ['from'],
    help: "Shards that became this member's: new ones, ones that were given back, and ones of " +
      'a member that is over (lost), which is a failover.',
  })
  const given = metrics.count({
    name: 'shards_given_total',
    help: 'Shards that this member gave back.',
  })
  return {
    owners: () => shards.owners(),
    owner: (shard) => shards.owner(shard),
    claim: async (claim) => {
      const outcome = await shards.claim(claim)
      const { from, to } = claim
      if (outcome.kind !== 'claimed') return outcome
      if (to.session === null) given()
      else if (from?.session !== to.session) taken({ from: originOf(from) })
      return outcome
    },
  }
}

function originOf(from: { readonly session: string | null } | undefined): string {
  if (from === undefined) return 'new'
  return from.session === null ? 'given' : 'lost'
}
