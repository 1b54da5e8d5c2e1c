/** The entry of a graph process: a graph host with its workers, which does what the server says. */

import { Socket } from 'node:net'
import { flushCompileCache } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'

import { systemEnv } from '../../../cluster/index.ts'
import type { Details, Env, Log } from '../../../cluster/index.ts'
import { assert, HeddleError, messageOf } from '../../errors.ts'
import { v8Flags } from '../../settings/index.ts'
import { SupervisedApp } from '../app-thread/supervised-app.ts'
import { startGraphHost } from '../pool/host.ts'
import type { HostStats } from '../pool/host.ts'
import { HostedExecutions } from './hosted-executions.ts'
import { HostedQuestions } from './hosted-questions.ts'
import type { FromProcess, ProcessStart, ToProcess } from './process-mail.ts'
import { Wire } from '../wire.ts'

/** The file descriptor of the wire. */
const wireFd = 3
const beatMs = 1_000
/** Niceness of a process that replays: its threads yield to those that serve. */
const replayNiceness = 10

for (const flag of v8Flags) setFlagsFromString(flag)

const socket = new Socket({ fd: wireFd, readable: true, writable: true })
// The server has ended: a graph that never returns must not be left over.
socket.on('end', () => process.exit(1))
socket.on('close', () => process.exit(1))
const wire = new Wire<FromProcess, ToProcess>(socket, {
  mail: (mail) => deliver(mail),
  broken: () => process.exit(1),
})
const send = (mail: FromProcess) => wire.send(mail)
const env: Env = { ...systemEnv({ level: 'silent' }), log: logTo({}) }
// A terminal sends these to the whole group. The server decides when its runs end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

/** Mail that waits until the host has taken in that something was not stored. */
let held: ToProcess[] | undefined

/**
 * Nothing comes after a batch that was not stored until the host has forgotten what it made of the
 * thread: the next execution would continue from there.
 */
function deliver(mail: ToProcess): void {
  if (held) return void held.push(mail)
  receive(mail)
  if (mail.type !== 'landed' || mail.isStored) return
  held = []
  setImmediate(() => {
    const mails = held!
    held = undefined
    for (const each of mails) deliver(each)
  })
}

/** Figures of the host, which replaces this function when it has started. */
let stats = (): HostStats => ({ starting: 1, ready: 0, busy: 0, underWay: 0, waiting: 0, lost: 0 })
const beat = () => send({ type: 'beat', stats: stats(), residentBytes: process.memoryUsage.rss() })
env.every(beatMs, beat)

/** Replaced when the project is loaded: only `start` comes before `ready`. */
let receive = (mail: ToProcess): void => {
  if (mail.type === 'start') void start(mail.start)
}

async function start(
  { project, workers, heapMb, environment, tracedRatio, app: bounds }: ProcessStart,
): Promise<void> {
  // Its threads inherit it, so that it comes before their start.
  if (project.replays && getPriority() < replayNiceness) setPriority(replayNiceness)
  const printed = (line: string, level: 'info' | 'warn') => send({ type: 'printed', line, level })
  const app = bounds &&
    new SupervisedApp(env, { project, ...bounds, variables: environment, printed,
      moved: (place) => send({ type: 'moved', place: place ?? null }) })
  const executions = new HostedExecutions(send)
  const opening = startGraphHost({ project, workers, heapMb, tracedRatio, env, inProcess: {
    environment,
    lines: executions.lines,
    printed,
    loading: (graphId) => send({ type: 'loading', graphId }),
  } })
  const opened = app?.opened.then(() => opening) ?? opening
  opening.catch(() => {})
  const host = await opened.catch((error: unknown) => {
    const isTransient = HeddleError.from(error).retry !== 'no'
    send({ type: 'refused', reason: messageOf(error), isTransient })
    wire.flush()
    // The server ends this process when it has read that.
    return undefined
  })
  if (host === undefined) return
  const questions = new HostedQuestions(host, send, executions.sourceFor)
  host.useItems(executions)
  host.useTraces((body) => executions.trace(body))
  executions.open(host)
  receive = (mail) => {
    switch (mail.type) {
      case 'ask':
        return void questions.ask(mail)
      case 'cancel':
        return questions.cancel(mail.asking)
      case 'served':
        app?.servedAt(mail.url)
        return host.servedAt(mail.url)
      case 'drain':
        return void host.drain(new AbortController().signal).then(() => send({ type: 'drained' }))
      case 'flush':
        return void host.handOver().then(() => send({ type: 'flushed' }))
      case 'start':
        return
      default:
        return executions.receive(mail)
    }
  }
  // The last digits of a run's id decide: these are traced if anything is.
  send({ type: 'ready', graphs: host.graphs(), traces: host.tracesSteps('00000000') })
  stats = () => host.stats()
  beat()
  flushCompileCache()
}

/** A log whose lines the server writes. */
function logTo(always: Details): Log {
  const writer =
    (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, details: Details = {}) =>
      send({ type: 'logged', level, message, details: textsOf({ ...always, ...details }) })
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'),
    error: writer('error'), child: (details) => logTo({ ...always, ...details }) }
}

function textsOf(details: Details): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map((
      [name, value],
    ) => [name, value instanceof Error ? value.stack ?? value.message : String(value)]),
  )
}

assert(process.argv.length === 2, 'this file is started as a graph process')
