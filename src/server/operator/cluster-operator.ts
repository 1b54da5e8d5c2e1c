/** Asks the members of a cluster for operators: lists them, and ends one of them. */

import { atLatest, openMemberCaller, readMemberTls } from '../../../cluster/index.ts'
import type { Env, Heartbeat, MemberCaller, ShardClaim } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { MemberDetails } from '../../frontdoor/index.ts'
import type { SecretsSurvey } from '../../platform/index.ts'
import type { CassandraSettings } from '../../settings/index.ts'
import { openControlTables } from '../../store/cassandra/index.ts'
import type { ControlTables } from '../../store/cassandra/index.ts'
import { connectionOptions } from '../backends/cassandra-connection.ts'
import { memberDetailsWire } from '../backends/member-details.ts'
import { drainWire } from '../drain.ts'
import { revisionsWire } from '../deployments/revisions-admin.ts'
import type { RevisionsRequest, RevisionSurvey } from '../deployments/revisions-admin.ts'
import { secretsWire } from '../secrets-admin.ts'

/** A member as an operator sees it. */
export interface ListedMember {
  readonly id: string
  readonly address: string
  readonly leaving: boolean
  readonly shards: number
  /** Null if it does not answer. */
  readonly details: MemberDetails | null
}

/** Questions to a cluster, until it is closed. */
export interface ClusterOperator {
  /** All members that have left a heartbeat lately. */
  list(): Promise<readonly ListedMember[]>
  /**
   * Ends a member, by its id or the beginning of it. It gives its shards back first. Throws
   * `not_found` if there is none, `invalid` if several begin so.
   */
  drain(id: string): Promise<ListedMember>
  /**
   * Refuses programs that do not support the tables of this one, and lets members use them. Returns
   * the version of the tables that is required from now on. Throws HeddleError: `in_use` while a
   * member is up that does not support it or does not respond, also if that member started
   * meanwhile; `unsupported` if no member has prepared these tables. May be called again.
   */
  finishUpgrade(): Promise<number>
  /** Asks any member about the stored secrets. */
  survey(options: { readonly rekey: boolean }): Promise<SecretsSurvey>
  /** Asks any member about a stored revision. */
  surveyRevision(options: RevisionsRequest): Promise<RevisionSurvey | null>
  close(): Promise<void>
}

/** Milliseconds after which a member counts as not answering. */
const answerMs = 3_000

/** Connects to the cluster. Throws HeddleError if it cannot be reached. */
export async function openClusterOperator(settings: CassandraSettings,
  env: Env): Promise<ClusterOperator> {
  const tables = await openControlTables({ ...connectionOptions(settings), env })
  try {
    const caller = await callerOver(settings, tables.secret, env)
    return createClusterOperator({ tables, caller, env })
  } catch (error) {
    await tables.close()
    throw error
  }
}

async function callerOver({ member: { cluster, secret, tls } }: CassandraSettings, stored: string,
  env: Env): Promise<MemberCaller> {
  const trust = tls === null
    ? { secret: secret === '' ? stored : secret }
    : { tls: readMemberTls(tls, env), ...secret !== '' && { secret } }
  return await openMemberCaller({ env, cluster, trust, reviveError: HeddleError.revive,
    wires: [memberDetailsWire, drainWire, secretsWire] })
}

/** Control rows of a cluster, and the way to its members. */
export interface ClusterOperatorOptions {
  readonly tables: ControlTables
  readonly caller: Pick<MemberCaller, 'ask' | 'close'>
  readonly env: Env
}

/** Creates an operator, which closes the tables and the caller. */
export function createClusterOperator(
  { tables, caller, env }: ClusterOperatorOptions,
): ClusterOperator {
  const listed = async (member: Heartbeat, owners: readonly ShardClaim[]) => {
    const asked = caller.ask(member, memberDetailsWire.name, null).catch(() => undefined)
    const details = await atLatest(env, answerMs, asked) as MemberDetails | undefined
    const { id, address, leaving } = member
    return { id, address, leaving, details: details ?? null,
      shards: owners.filter(({ session }) => session === id).length }
  }
  const list = async () => {
    const [members, owners] = await Promise.all([tables.members(), tables.shardOwners.owners()])
    return await Promise.all(members.map((member) => listed(member, owners)))
  }
  return {
    list,
    drain: async (id) => {
      const found = (await list()).filter((member) => member.id.startsWith(id))
      if (found.length !== 1) throw notOne(id, found)
      await caller.ask(found[0]!, drainWire.name, null)
      return found[0]!
    },
    finishUpgrade: async () => {
      const required = tables.finishedFrom
      const findOlder = async () => (await list()).find((each) => supportedBy(each) < required)
      const older = await findOlder()
      if (older !== undefined) throw isOlder(older, required)
      await tables.finishUpgrade()
      // A member that started at the same time may have read the earlier version of the tables.
      const late = await findOlder()
      if (late !== undefined) throw startedLate(late, required)
      return required
    },
    survey: async (options) => {
      const member = (await list()).find(({ details }) => details !== null)
      if (member !== undefined) {
        return await caller.ask(member, secretsWire.name, options) as SecretsSurvey
      }
      throw new HeddleError('unavailable', 'No member answers: start one, and try again.')
    },
    surveyRevision: async (options) => {
      const member = (await list()).find(({ details }) => details !== null)
      if (member !== undefined) {
        return await caller.ask(member, revisionsWire.name, options) as RevisionSurvey | null
      }
      throw new HeddleError('unavailable', 'No member answers: start one, and try again.')
    },
    close: async () => {
      caller.close()
      await tables.close()
    },
  }
}

/**
 * The newest version of the tables that a member supports. A member of an earlier build, or a
 * member that does not respond, counts as the oldest.
 */
function supportedBy({ details }: ListedMember): number {
  return details?.tables ?? 0
}

function isOlder(member: ListedMember, required: number): HeddleError {
  return new HeddleError('in_use', `${faultOf(member)}. Upgrade all members to a program that ` +
    `supports version ${required} of the tables first.`)
}

function startedLate(member: ListedMember, required: number): HeddleError {
  return new HeddleError('in_use', `${faultOf(member)}. It started while the upgrade was being ` +
    `finished, which is done: end this member before you restart others, because they use ` +
    `version ${required} of the tables from their next start on.`)
}

function faultOf({ id, address, details }: ListedMember): string {
  const supported = details?.tables === undefined
    ? 'does not report which tables it supports'
    : `supports the tables up to version ${details.tables}`
  const fault = details === null ? 'does not respond' : `(${details.version}) ${supported}`
  return `The member ${id} at ${address} ${fault}`
}

function notOne(id: string, found: readonly ListedMember[]): HeddleError {
  if (found.length > 1) {
    return new HeddleError('invalid', `The ids of ${found.length} members begin with ${id}.`)
  }
  return new HeddleError('not_found', `There is no member ${id}; "members" lists them.`)
}
