/** The status of a running cluster: the report of each member, and all as lines for people. */

import type { ClusterDescription, MemberDescription } from './description.ts'
import { tableLines } from './table.ts'

/** What a member knows of its cluster: the answer of `GET /internal/cluster`. */
export interface ClusterReport {
  readonly member: { readonly id: string; readonly address: string }
  /** The members that it considers alive, with itself. */
  readonly view: readonly { readonly id: string; readonly address: string }[]
  /** The owners of shards, as far as it knows them. */
  readonly shards: readonly ShardReport[]
}

/** The owner of a shard, as a member knows it. */
export interface ShardReport {
  readonly shard: number
  /** Epoch of its owner. It grows with each owner. */
  readonly epoch: number
  /** The id of its owner; null if it has none. */
  readonly session: string | null
  readonly address: string | null
}

/** A member with its report, or with the reason why there is none. */
export interface MemberAnswer {
  readonly member: MemberDescription
  readonly report: ClusterReport | string
}

const patienceMs = 3_000

/** Asks every member of the cluster at once. */
export function askMembers({ members }: ClusterDescription): Promise<MemberAnswer[]> {
  return Promise.all(members.map(async (member) => {
    const report = await reportOf(member.http)
      .catch((error: Error) => `does not answer: ${reasonOf(error)}`)
    return { member, report }
  }))
}

async function reportOf(url: string): Promise<ClusterReport | string> {
  const answer = await fetch(`${url}/internal/cluster`, { signal: AbortSignal.timeout(patienceMs) })
  if (!answer.ok) return `answers ${answer.status}`
  return await answer.json() as ClusterReport
}

function reasonOf(error: Error): string {
  const { code } = (error.cause ?? {}) as { code?: string }
  return code ?? (error.name === 'TimeoutError' ? `nothing in ${patienceMs} ms` : error.message)
}

/** Lines for people: the members, the shards and epochs of each, and shards without an owner. */
export function statusLines(
  { cassandra }: ClusterDescription,
  answers: readonly MemberAnswer[],
): string[] {
  const known = newestOwners(answers)
  const owned = Map.groupBy(known.filter(({ session }) => session !== null),
    ({ session }) => session!)
  const rows = answers.map(({ member, report }, index) => [
    `${index + 1}`,
    `${member.pid}`,
    short(member.session),
    member.http,
    member.grpc,
    ...typeof report === 'string' ? [report] : [
      `${report.view.length} of ${answers.length}`,
      ...sharesOf(owned.get(member.session) ?? []),
    ],
  ])
  const present = new Set(answers.map(({ member }) => member.session))
  const others = [...owned].filter(([session]) => !present.has(session)).map((
    [session, shards],
  ) => ['-', '-', short(session), '-', shards[0]!.address ?? '-', 'no member', ...sharesOf(shards)])
  const ownedShards = known.filter(({ session }) => session !== null).length
  return [
    ...tableLines([
      ['member', 'pid', 'session', 'front door', 'gRPC', 'sees', 'shards', 'epochs'],
      ...rows,
      ...others,
    ]),
    '',
    `  ${known.length} shards are known, ${known.length - ownedShards} of them without an owner.`,
    `  Cassandra: ${cassandra.map(({ address, pid }) => `${address} (pid ${pid})`).join(', ')}.`,
  ]
}

/** The newest of the members' reports of each shard. */
function newestOwners(answers: readonly MemberAnswer[]): ShardReport[] {
  const newest = new Map<number, ShardReport>()
  for (const { report } of answers) {
    if (typeof report === 'string') continue
    for (const said of report.shards) {
      if (said.epoch >= (newest.get(said.shard)?.epoch ?? 0)) newest.set(said.shard, said)
    }
  }
  return [...newest.values()]
}

function sharesOf(shards: readonly ShardReport[]): [count: string, epochs: string] {
  if (shards.length === 0) return ['0', '-']
  const epochs = shards.map(({ epoch }) => epoch)
  const [least, most] = [Math.min(...epochs), Math.max(...epochs)]
  return [`${shards.length}`, least === most ? `${least}` : `${least} to ${most}`]
}

const short = (session: string) => session.slice(0, 8)
