/** The ground in Cassandra: a session that owns every shard, and the ports behind its gate. */

import { connect } from 'node:net'

import { lightBeacon, mustBeOpen, openSession, tcpProbe } from '../../cluster/index.ts'
import type { Beacon, Env, Gate, Session } from '../../cluster/index.ts'
import type { CassandraSettings } from '../config.ts'
import { HeddleError } from '../errors.ts'
import { scatteredIndex } from '../records/index.ts'
import type { OwnIndex, UnfinishedThread } from '../records/index.ts'
import { openCassandraStore } from '../store/cassandra/index.ts'
import type { CassandraStore } from '../store/cassandra/index.ts'
import type { Ground } from './ground.ts'

export interface CassandraGroundOptions {
  readonly settings: CassandraSettings
  /** For what can be made anew. */
  readonly directory: string
  readonly env: Env
  /** This member was fenced: it must end at once. */
  onFenced(reason: string): void
}

const cqlPort = 9042
const findAddressMs = 2_000
const loadAgainMs = 1_000

/** Throws HeddleError with a sentence: for a wrong setting, or where another member lives. */
export async function openCassandraGround(options: CassandraGroundOptions): Promise<Ground> {
  const { settings, directory, env, onFenced } = options
  const { contactPoints, keyspace } = settings
  const store = await openCassandraStore({
    ...withoutEmpty(settings), env, directory,
  })
  let beacon: Beacon | undefined
  try {
    const id = env.uuid()
    const host = settings.memberHost || await ownAddressTowards(contactPoints[0]!, env)
    beacon = await lightBeacon({ id, host })
    const session = await openSession({
      env, onFenced, probe: tcpProbe(env), self: { id, address: beacon.address },
      sessions: store.sessions, shardOwners: store.shardOwners, shards: store.shards,
    })
    return servedGround({ store, session, beacon, env,
      place: `keyspace ${keyspace} of Cassandra at ${contactPoints.join(', ')}` })
  } catch (error) {
    await beacon?.close()
    await store.close()
    throw error
  }
}

function servedGround({ store, session, beacon, env, place }: { readonly store: CassandraStore
  readonly session: Session; readonly beacon: Beacon; readonly env: Env
  readonly place: string }): Ground {
  const { gate, ownership } = session
  const { log, runs, threads, assistants } = store.serve({ gate })
  const found = scatteredIndex({
    env, owners: { ...ownership, changed: () => new Promise(() => {}) },
    own: gatedIndex(store.index, gate),
    ask: () => Promise.reject(new HeddleError('unavailable')),
  })
  let stopped = false
  const unfinished = loadAll({ store, env, isStopped: () => stopped })
  return {
    log, runs, ownership, gate, place,
    threads: { ...threads, ...found.threads },
    assistants: { ...assistants, ...found.assistants },
    unfinished: () => unfinished,
    check: async () => {
      if (await store.reachable()) return
      throw new HeddleError('unavailable', 'Cassandra is out of reach; this server waits for it.')
    },
    close: async () => {
      stopped = true
      await store.quiet()
      await session.leave()
      await beacon.close()
      await store.close()
    },
  }
}

/** Covers every shard, those whose rows cannot be read yet when they can. */
async function loadAll({ store, env, isStopped }: { readonly store: CassandraStore
  readonly env: Env; isStopped(): boolean }): Promise<readonly UnfinishedThread[]> {
  const unfinished: UnfinishedThread[] = []
  let rest = Array.from({ length: store.shards }, (_, shard) => shard)
  while (rest.length > 0) {
    const failed: number[] = []
    let error: unknown
    await Promise.all(rest.map((shard) => store.index.load(shard).then(
      (found) => void unfinished.push(...found),
      (reason: unknown) => {
        failed.push(shard)
        error = reason
      })))
    if (isStopped()) break
    rest = failed
    if (rest.length === 0) break
    env.log.warn('The rows of this member cannot be read yet.', { error })
    await new Promise<void>((again) => void env.after(loadAgainMs, again))
  }
  return unfinished
}

/** What is found while others may own it already may be old: the answer passes the gate. */
function gatedIndex(index: OwnIndex, gate: Gate): OwnIndex {
  return {
    answer: async (question) => {
      mustBeOpen(gate)
      const began = gate.mark()
      const answer = await index.answer(question)
      if (!gate.passed(began)) await gate.pass()
      return answer
    },
  }
}

function withoutEmpty({ user, password, tls, ...settings }: CassandraSettings) {
  return { ...settings, ...user !== '' && { user, password }, ...tls && { tls } }
}

/** The address of this machine on the way to a node: who reaches that node reaches it as well. */
function ownAddressTowards(contactPoint: string, env: Env): Promise<string> {
  const [, host, port] = /^(.*?)(?::(\d+))?$/.exec(contactPoint)!
  return new Promise((found) => {
    const socket = connect(port === undefined ? cqlPort : Number(port), host)
    const end = (address: string) => {
      stopWaiting()
      socket.destroy()
      found(address)
    }
    const stopWaiting = env.after(findAddressMs, () => end('127.0.0.1'))
    socket.on('error', () => end('127.0.0.1'))
    socket.on('connect', () => end(socket.localAddress!))
  })
}
