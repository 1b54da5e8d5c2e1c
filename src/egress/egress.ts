/**
 * The one way out to endpoints of customers: checked, bounded in time, size and number, and
 * retried.
 *
 * 1. No connection is made to a closed address, whatever a name, a redirect or a second look-up
 *    says. A proxy looks names up itself, so its requests are checked before.
 * 2. Every call ends: its tries are counted, and each try and each wait has a limit. An answer that
 *    is read as it comes has the same limits, and one on its silence.
 * 3. A host that hangs takes no more than its share of the calls that are in progress or wait. A
 *    tenant takes no more than its own share, however many hosts it calls.
 */

import { lookup } from 'node:dns/promises'

import { FairSemaphore } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { CodedError, HeddleError, messageOf } from '../errors.ts'
import { textAt } from '../json/index.ts'
import { AddressRules } from './address-rules.ts'
import { untilAborted, withinTime } from './deadline.ts'
import type { Resolve } from './guarded-connector.ts'
import type { Http, HttpAnswer } from './http.ts'
import { openedAnswer } from './opened-answer.ts'
import type { OpenedAnswer } from './opened-answer.ts'
import { redirected, redirectFault, redirectsMax, targetOf } from './redirect.ts'
import type { Hop, Redirect } from './redirect.ts'
import { askedWaitMs, isPassing, triesMax, waitAfter } from './retry-policy.ts'
import { callableUrl, hostOf } from './url-rules.ts'

/** Proxy, exceptions and name resolution for calls that leave this server. */
export interface EgressOptions {
  readonly env: Env
  /** Version of this server, for the User-Agent header. */
  readonly version: string
  /** An http(s) URL of a proxy for everything. */
  readonly proxy?: string | undefined
  /** Addresses, ranges and hosts that may be called though they are private. */
  readonly allowed?: readonly string[]
  /** Looks names up; by default as the system does. */
  readonly resolve?: Resolve
}

/** One call, with all its tries. */
export interface Call {
  /** The tenant that the call is for. */
  readonly tenant: string
  /** The user of the run that the call is for. Only a route of the own deployment sees it. */
  readonly user?: object | undefined
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Headers by names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Made anew each time it is sent; undefined if nothing has to be sent any more. */
  readonly body?: () => Promise<string | undefined>
  /** Number of tries; six by default. */
  readonly tries?: number
  /** Time from a request to the end of its answer, in milliseconds; 15 s by default. */
  readonly answerMs?: number
  /** Bytes of an answer that are read; 1 MiB by default. */
  readonly answerBytesMax?: number
  /**
   * Throws `invalid` for a URL that this call may not be sent to. Redirects are checked as well.
   */
  readonly mayCall?: (url: URL) => void
}

/**
 * answered  with any status; `cut` if the body was longer than is read
 * refused   the URL or its redirects may not be called, or nothing has to be sent any more
 * failed    nothing answered the last try
 */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string;
    readonly cut: boolean; /** The wait that the answer asks for; absent if it asks for none. */
    readonly retryAfterMs?: number }
  | Unanswered

/** A call that was not sent, or that nothing answered. */
export interface Unanswered {
  readonly kind: 'refused' | 'failed'
  readonly reason: string
}

/** The way out of a server, which owns it. */
export interface Egress {
  /** Throws `invalid`, with what is wrong, for a URL that is never called. */
  check(url: string): void
  /** Tries until the call is answered for good. Throws the signal's reason if that aborts. */
  send(call: Call, signal: AbortSignal): Promise<CallOutcome>
  /**
   * Tries once, and gives the bytes of the answer as they come. Throws the signal's reason if that
   * aborts; the answer throws it too.
   */
  open(call: Omit<Call, 'tries'>, signal: AbortSignal): Promise<OpenedAnswer | Unanswered>
  /** Cuts off all calls in progress. */
  close(): Promise<void>
}

/** Time from a request to the end of its answer, unless the call says otherwise. */
const answerMs = 15_000
/** Time that a call may wait for its turn. */
const turnMs = 60_000
/** Bytes of an answer that are read, unless the call says otherwise. */
const answerBytesMax = 1024 * 1024
const waits = { waiting: 10_000, longestYields: true,
  full: 'Too many calls wait to go out already.' } as const
/** Bounds on the calls of a tenant to one host. Calls that wait here hold up no others. */
const hostLimits = { ...waits, inAll: Infinity, each: 8, waitingEach: 4_000 } as const
/** Bounds on the calls of a tenant to all hosts. */
const tenantLimits = { ...waits, inAll: 64, each: 48 } as const

/** The result of one try. */
interface Tried {
  readonly outcome: CallOutcome
  /** Time that the answer asks to wait; undefined if trying again is of no use. */
  readonly againMs: number | undefined
}

/** Opens the way out. Nothing is connected until the first call. */
export function openEgress(options: EgressOptions): Egress {
  const egress = new HttpEgress(options)
  return {
    check: (url) => egress.check(url),
    send: (call, signal) => egress.send(call, signal),
    open: (call, signal) => egress.open(call, signal),
    close: () => egress.close(),
  }
}

class HttpEgress {
  readonly #env: Env
  readonly #agent: string
  readonly #rules: AddressRules
  readonly #open: () => Promise<Http>
  #http: Promise<Http> | undefined
  readonly #hosts = new FairSemaphore(hostLimits)
  readonly #tenants = new FairSemaphore(tenantLimits)
  readonly #closing = new AbortController()

  constructor({ env, version, proxy, allowed = [], resolve = resolveAll }: EgressOptions) {
    this.#env = env
    this.#agent = `heddle/${version}`
    this.#rules = new AddressRules(allowed)
    this.#open = async () => {
      // Loaded when it is first needed: loading takes a while, and most servers make no calls.
      const { openHttp } = await import('./http.ts')
      return openHttp({ rules: this.#rules, resolve, proxy })
    }
  }

  check(url: string): void {
    callableUrl(url, this.#rules)
  }

  async send(call: Call, signal: AbortSignal): Promise<CallOutcome> {
    const { tries: most = triesMax } = call
    const stopped = AbortSignal.any([signal, this.#closing.signal])
    for (let tries = 1;; tries++) {
      stopped.throwIfAborted()
      const { outcome, againMs } = await this.#try(call, stopped)
      if (againMs === undefined || tries === most) return outcome
      const chance = this.#env.random()
      await this.#wait(waitAfter({ tries, chance, askedMs: againMs }), stopped)
    }
  }

  async open(call: Call, signal: AbortSignal): Promise<OpenedAnswer | Unanswered> {
    const stopped = AbortSignal.any([signal, this.#closing.signal])
    try {
      return await this.#follow(call, stopped, (hop) => this.#openInTurn(call, hop, stopped))
    } catch (error) {
      stopped.throwIfAborted()
      return unanswered(error)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new HeddleError('unavailable', 'The way out is closed.'))
    await (await this.#http)?.close()
  }

  async #try(call: Call, stopped: AbortSignal): Promise<Tried> {
    try {
      return await this.#follow(call, stopped, (hop) => this.#askInTurn(call, hop, stopped))
    } catch (error) {
      stopped.throwIfAborted()
      const outcome = unanswered(error)
      return { outcome, againMs: outcome.kind === 'failed' ? 0 : undefined }
    }
  }

  /** Asks hop after hop. Throws `forbidden` or `invalid` for one that may not be called. */
  async #follow<Result extends object>(call: Call, stopped: AbortSignal,
    ask: (hop: Hop) => Promise<Result | Redirect>): Promise<Result> {
    stopped.throwIfAborted()
    const headers = { 'user-agent': this.#agent, ...call.headers }
    const { method, body } = call
    let hop: Hop = { method, url: this.#mayCall(call, call.url), headers, body }
    for (let redirects = 0;; redirects++) {
      const answer = await (redirects === 0 ? ask(hop) : this.#askThere(hop, ask, stopped))
      if (!('target' in answer)) return answer
      if (redirects === redirectsMax) {
        throw new HeddleError('forbidden', `it redirects more than ${redirectsMax} times`)
      }
      hop = redirected(hop, answer.status, this.#mayRedirect(call, answer.target))
    }
  }

  /** Sends the next hop of a redirect. Its errors do not repeat a word of the address. */
  async #askThere<Result>(hop: Hop, ask: (hop: Hop) => Promise<Result>,
    stopped: AbortSignal): Promise<Result> {
    try {
      return await ask(hop)
    } catch (error) {
      stopped.throwIfAborted()
      throw redirectFault(error, hop.url.href)
    }
  }

  #mayRedirect(call: Call, target: string): URL {
    try {
      return this.#mayCall(call, target)
    } catch (error) {
      throw redirectFault(error, target)
    }
  }

  #mayCall({ mayCall }: Call, text: string): URL {
    const url = callableUrl(text, this.#rules)
    mayCall?.(url)
    return url
  }

  async #askInTurn(call: Call, hop: Hop, stopped: AbortSignal): Promise<Tried | Redirect> {
    const leave = await this.#turn(call.tenant, hop, stopped)
    try {
      return await withinTime(this.#env, call.answerMs ?? answerMs, stopped, (signal) =>
        this.#ask(call, hop, signal))
    } finally {
      leave()
    }
  }

  /** The turn is left when the answer has ended. */
  async #openInTurn(call: Call, hop: Hop, stopped: AbortSignal): Promise<OpenedAnswer | Redirect> {
    const leave = await this.#turn(call.tenant, hop, stopped)
    const { answerMs: ms = answerMs, answerBytesMax: bytesMax = answerBytesMax } = call
    return await openedAnswer({ env: this.#env, ms, bytesMax, stopped, leave }, async (signal) => {
      const answer = await this.#request(hop, signal)
      const url = targetOf(hop, answer.status, answer.headers['location'])
      if (url === undefined) return { ...answer, retryAfterMs: this.#askedMs(answer) }
      await textOf(answer.body, answerBytesMax)
      return { status: answer.status, target: url }
    })
  }

  #turn(tenant: string, hop: Hop, stopped: AbortSignal): Promise<() => void> {
    return withinTime(this.#env, turnMs, stopped,
      (signal) => this.#enter(tenant, hostOf(hop.url), signal))
  }

  /** Takes the host's turn first. Calls that wait for it must not use up the tenant's. */
  async #enter(tenant: string, host: string, signal: AbortSignal): Promise<() => void> {
    const leaveHost = await this.#hosts.enter(`${tenant}\n${host}`, signal)
    try {
      const leaveTenant = await this.#tenants.enter(tenant, signal)
      return () => {
        leaveTenant()
        leaveHost()
      }
    } catch (error) {
      leaveHost()
      throw error
    }
  }

  async #ask(call: Call, hop: Hop, signal: AbortSignal): Promise<Tried | Redirect> {
    const answer = await this.#request(hop, signal)
    const { status, headers, body } = answer
    // The body comes first: an answer that is not read would keep its connection.
    const text = await textOf(body, call.answerBytesMax ?? answerBytesMax)
    const target = targetOf(hop, status, headers['location'])
    if (target !== undefined) return { status, target }
    const askedMs = this.#askedMs(answer)
    const outcome = { kind: 'answered', status, ...text,
      ...askedMs > 0 && { retryAfterMs: askedMs } } as const
    return { outcome, againMs: isPassing(status) ? askedMs : undefined }
  }

  async #request(hop: Hop, signal: AbortSignal): Promise<HttpAnswer> {
    const http = await (this.#http ??= this.#open())
    const text = await untilAborted(signal, async () => {
      await http.requireOpen(hop.url)
      return await hop.body?.()
    })
    if (hop.body !== undefined && text === undefined) {
      throw new HeddleError('forbidden', 'nothing is left to send')
    }
    return await http.ask({ ...hop, body: text ?? null }, signal)
  }

  #askedMs({ headers }: Pick<HttpAnswer, 'headers'>): number {
    return askedWaitMs(headers['retry-after'], this.#env.nowMs())
  }

  #wait(ms: number, stopped: AbortSignal): Promise<void> {
    return untilAborted(stopped, (signal) =>
      new Promise((done) => {
        const stop = this.#env.after(ms, done)
        signal.addEventListener('abort', stop, { once: true })
      }))
  }
}

/** Outcome of a call that threw. */
function unanswered(error: unknown): Unanswered {
  const { code, message } = HeddleError.from(error)
  if (code === 'invalid' || code === 'forbidden') return { kind: 'refused', reason: message }
  return { kind: 'failed', reason: reasonOf(error) }
}

/** Reads no further than the bound. The connection is cut there. */
async function textOf(body: AsyncIterable<Uint8Array>,
  bytesMax: number): Promise<{ readonly body: string; readonly cut: boolean }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, bytesMax - bytes))
    bytes += chunk.length
    if (bytes > bytesMax) break
  }
  return { body: Buffer.concat(chunks).toString(), cut: bytes > bytesMax }
}

const resolveAll: Resolve = (host) => lookup(host, { all: true })

function reasonOf(error: unknown): string {
  const code = textAt(error, 'code')
  if (error instanceof CodedError || code === undefined) return messageOf(error)
  return `${code}: ${messageOf(error)}`
}
