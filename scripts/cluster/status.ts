/** How a running cluster stands: what each member answers, and that as lines for a reader. */

import type { ClusterDescription, MemberDescription } from './description.ts'
import { tableLines } from './table.ts'

/** What a member knows of its cluster, as `GET /internal/cluster` tells it. */
export interface ClusterReport {
  readonly member: { readonly id: string; readonly address: string }
  /** The members that it takes for alive, itself among them. */
  readonly view: readonly { readonly id: string; readonly address: string }[]
  /** Who owns what, as far as it knows. */
  readonly shards: readonly ShardReport[]
}

export interface ShardReport {
  readonly shard: number
  /** Since when it is owned; grows with every owner. */
  readonly epoch: number
  /** Of its owner; null where nobody owns it. */
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
  const answer = await fetch(`${url}/internal/cluster`,
    { signal: AbortSignal.timeout(patienceMs) })
  if (!answer.ok) return `answers ${answer.status}`
  return await answer.json() as ClusterReport
}

function reasonOf(error: Error): string {
  const { code } = (error.cause ?? {}) as { code?: string }
  return code ?? (error.name === 'TimeoutError' ? `nothing in ${patienceMs} ms` : error.message)
}

/** Lines for a reader: members, shards of each and their epochs, and what nobody owns. */
export function statusLines(
  { cassandra }: ClusterDescription, answers: readonly MemberAnswer[]): string[] {
  const known = newestOwners(answers)
  const owned = Map.groupBy(known.filter(({ session }) => session !== null),
    ({ session }) => session!)
  const rows = answers.map(({ member, report }, place) => [
    `${place + 1}`, `${member.pid}`, short(member.session), member.http, member.grpc,
    ...typeof report === 'string' ? [report] : [
      `${report.view.length} of ${answers.length}`, ...sharesOf(owned.get(member.session) ?? []),
    ],
  ])
  const present = new Set(answers.map(({ member }) => member.session))
  const others = [...owned].filter(([session]) => !present.has(session)).map(([session, shards]) =>
    ['-', '-', short(session), '-', shards[0]!.address ?? '-', 'no member', ...sharesOf(shards)])
  const ownedShards = known.filter(({ session }) => session !== null).length
  return [
    ...tableLines([
      ['member', 'pid', 'session', 'front door', 'gRPC', 'sees', 'shards', 'epochs'],
      ...rows, ...others,
    ]),
    '',
    `  ${known.length} shards are known, ${known.length - ownedShards} of them without an owner.`,
    `  Cassandra: ${cassandra.map(({ address, pid }) => `${address} (pid ${pid})`).join(', ')}.`,
  ]
}

/** Of what the members say of one shard, the newest holds. */
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
