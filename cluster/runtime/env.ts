/** The one window through which time, chance and the console come in, so a test can own them. */

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { isatty } from 'node:tty'
import { format, styleText } from 'node:util'

import { pino, stdSerializers, stdTimeFunctions } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { v4, v7 } from 'uuid'

/** Values that a log line may carry beside its sentence. An Error goes under the name `error`. */
export type Details = Readonly<Record<string, unknown>>

/** A line each, to the console's error stream. A message is a sentence without values in it. */
export interface Log {
  /** Line that only helps to find a fault. */
  debug(message: string, details?: Details): void
  /** Line that an operator may want to know of. */
  info(message: string, details?: Details): void
  /** Line that an operator should look at some time. */
  warn(message: string, details?: Details): void
  /** Line that an operator should look at now. */
  error(message: string, details?: Details): void
  /** The same log, with details that every line of it carries. */
  child(details: Details): Log
}

/** Timers return a function that ends them; whoever set one calls it when it is not needed. */
export interface Env {
  /** Wall clock, in milliseconds since 1970. It may jump: only for people and for records. */
  nowMs(): number
  /** Never goes back. It counts from an arbitrary moment, so it means nothing to another worker. */
  monotonicMs(): number
  /** Milliseconds for which the event loop has waited for events, in all. */
  idleMs(): number
  /** Calls `fn` once. */
  after(ms: number, fn: () => void): () => void
  /** Calls `fn` again and again. */
  every(ms: number, fn: () => void): () => void
  /** Random, version 4. */
  uuid(): string
  /** A UUID of version 7: each is greater than the last one made by this process or worker. */
  uuid7(): string
  /** A number from 0 to below 1: for pauses, never for secrets. */
  random(): number
  /** 32 unpredictable bytes, as 43 characters of base64url. */
  secret(): string
  readonly log: Log
}

/** From the most lines to none. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Level and name of the log. */
export interface SystemEnvOptions {
  /** The lowest level that is written; `info` by default. */
  readonly level?: LogLevel
  /** The name of the worker that writes, if there are several. */
  readonly name?: string
  /** Lines for people instead of JSON; by default, if the console is a terminal. */
  readonly pretty?: boolean
}

/** The real clock, real chance and the real console. Works in a worker as well. */
export function systemEnv(options: SystemEnvOptions = {}): Env {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    idleMs: () => performance.nodeTiming.idleTime,
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms)
      return () => clearTimeout(timer)
    },
    every: (ms, fn) => {
      const timer = setInterval(fn, ms)
      return () => clearInterval(timer)
    },
    uuid: () => v4(),
    uuid7: () => v7(),
    random: () => Math.random(),
    secret: () => randomBytes(32).toString('base64url'),
    log: systemLog(options),
  }
}

/** Characters of lines that the console does not take; more are lost. */
const unwrittenMax = 1_000_000

function systemLog({ level = 'info', name, pretty = forPeople() }: SystemEnvOptions): Log {
  // Synchronous: the last line before a crash is the one that is needed.
  const console = pino.destination({ dest: 2, sync: true, maxLength: unwrittenMax })
  // A full disk must not end the process: lines are kept, up to the bound, and written later.
  console.on('error', () => {})
  const settings = {
    level,
    base: name === undefined ? null : { name },
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: loggedError },
  }
  return logOver(pino(settings, pretty ? peopleOver(console) : console))
}

/**
 * An error as it is logged. Objects that a library hung on it are left out: a connection or a
 * request has the key of a caller.
 */
function loggedError(error: unknown): unknown {
  return plainIn(error instanceof Error ? stdSerializers.errWithCause(error) : error)
}

function plainIn(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  return Object.fromEntries(Object.entries(error).flatMap(([name, member]: [string, unknown]) => {
    if (name === 'aggregateErrors' && Array.isArray(member)) return [[name, member.map(plainIn)]]
    if (name === 'cause') return [[name, plainIn(member)]]
    return name === 'details' || typeof member !== 'object' || member === null
      ? [[name, member]]
      : []
  }))
}

function forPeople(): boolean {
  return isatty(2) || process.env.NODE_ENV === 'development'
}

/**
 * Logs what libraries print and what Node.js warns of: a reader of JSON lines can use no others.
 * Not for a worker with code of others: what they print is theirs.
 */
export function consoleToLog(log: Log): void {
  const print = (...parts: unknown[]) =>
    log.warn('A library wrote to the console.', { text: format(...parts) })
  for (const name of ['debug', 'log', 'info', 'warn', 'error'] as const) console[name] = print
  process.removeAllListeners('warning')
  process.on('warning', (error) => log.warn('Node.js warns.', { error }))
}

function logOver(logger: Logger): Log {
  return {
    debug: (message, details) => logger.debug(details ?? {}, message),
    info: (message, details) => logger.info(details ?? {}, message),
    warn: (message, details) => logger.warn(details ?? {}, message),
    error: (message, details) => logger.error(details ?? {}, message),
    child: (details) => logOver(logger.child(details)),
  }
}

/** Turns each JSON line into one for people: `12:03:44 warn  The sentence.  key=value`. */
function peopleOver(console: DestinationStream): DestinationStream {
  return { write: (line) => console.write(lineForPeople(line)) }
}

const colours = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const

function lineForPeople(json: string): string {
  const { level, time, message, error, ...details } = JSON.parse(json) as Record<string, unknown>
  const colour = colours[level as keyof typeof colours] ?? 'red'
  const paint = { validateStream: true, stream: process.stderr }
  const clock = styleText('dim', String(time).slice(11, 19), paint)
  const label = styleText(colour, String(level).padEnd(5), paint)
  const rest = Object.entries(details).map(([name, value]) => `  ${name}=${textOf(value)}`).join('')
  return `${clock} ${label} ${String(message)}${styleText('dim', rest, paint)}${story(error)}\n`
}

/** The stack of an error, and those of what caused it. */
function story(error: unknown): string {
  if (error === undefined) return ''
  const { stack, cause } = error as { stack?: string; cause?: unknown }
  return `\n${stack ?? textOf(error)}${cause === undefined ? '' : `\nbecause of${story(cause)}`}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
