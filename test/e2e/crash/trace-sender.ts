/** A client that sends traces in every form, and knows what must be there after a kill. */

import { randomBytes, randomUUID } from 'node:crypto'

import { expect } from 'vitest'

import type { ClientBody, ClientOperation } from '../../support/ingest-bodies.ts'
import { multipartOf, partsOfRuns } from '../../support/ingest-bodies.ts'
import type { LoadWorker } from './worker.ts'

/** What a request says of spans: one member of each. */
interface Said {
  readonly path: string
  readonly body: ClientBody
  readonly member: 'inputs' | 'outputs'
  /** The text that each span has at this member. */
  readonly texts: ReadonlyMap<string, string>
}

/** A trace, what was acknowledged of it, and what is in doubt. */
interface Trace {
  readonly id: string
  readonly known: Said[]
  doubt: Said | undefined
  /** True once its deletion was asked for. */
  deleting: boolean
}

/** A span as the server answers it. */
interface Run {
  readonly id: string
  readonly trace_id: string
  readonly inputs: { readonly text?: string } | null
  readonly outputs: { readonly text?: string } | null
}

/** What the worker does after a kill differs: one store writes a request as a whole. */
export interface SenderOptions {
  readonly url: string
  readonly project: string
  /** True if a request without an answer is there as a whole, or not at all. */
  readonly wholeRequests: boolean
}

const forms = ['batch', 'multipart', 'otlp'] as const

/** Sends traces of some spans, completes some, and deletes each seventh. */
export class TraceSender implements LoadWorker {
  readonly name = 'traces'
  readonly #options: SenderOptions
  readonly #traces: Trace[] = []
  #count = 0

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Spans that must be there, by all that was checked. */
  get spans(): readonly string[] {
    return this.#traces.filter(({ deleting }) => !deleting)
      .flatMap(({ known: [first] }) => [...first?.texts.keys() ?? []])
  }

  async act(): Promise<void> {
    this.#count += 1
    const form = forms[this.#count % forms.length]!
    const size = 1 + (this.#count * 7) % 40
    const trace = form === 'otlp' ? otlpTrace(size, this.#options.project) : undefined
    const first = trace?.said ?? begun(size, form === 'batch', this.#options.project)
    const one: Trace = { id: trace?.id ?? [...first.texts.keys()][0]!, known: [], doubt: undefined,
      deleting: false }
    this.#traces.push(one)
    await this.#say(one, first)
    if (form !== 'otlp' && this.#count % 2 === 0) await this.#say(one, ended(first))
    if (this.#count % 7 === 0) await this.#delete(one)
  }

  async check(): Promise<void> {
    for (const trace of this.#traces) await this.#checkTrace(trace)
  }

  async #say(trace: Trace, said: Said): Promise<void> {
    trace.doubt = said
    const { body, contentType } = said.body
    await this.#send(said.path, body, { 'content-type': contentType,
      'langsmith-project': this.#options.project })
    trace.known.push(said)
    trace.doubt = undefined
  }

  async #delete(trace: Trace): Promise<void> {
    trace.deleting = true
    const [project] = await this.#json('GET', `/sessions?name=${this.#options.project}`) as {
      id: string
    }[]
    await this.#json('POST', '/runs/delete', { session_id: project!.id, trace_ids: [trace.id] })
    expect(await this.#runsOf(trace)).toEqual([])
  }

  async #checkTrace(trace: Trace): Promise<void> {
    if (trace.deleting) {
      // Without an answer it may have been deleted or not; said again it must be.
      await this.#delete(trace)
      return
    }
    const { doubt } = trace
    expectKnown(trace, await this.#runsOf(trace))
    if (doubt === undefined) return
    if (this.#options.wholeRequests) {
      const runs = await this.#runsOf(trace)
      const there = [...doubt.texts].filter(([id, text]) =>
        runs.find((run) => run.id === id)?.[doubt.member]?.text === text
      )
      expect(there.length, `spans of a request in doubt of ${trace.id}`)
        .toBeOneOf([0, doubt.texts.size])
      if (trace.known.length === 0) expect(runs).toHaveLength(there.length)
    }
    await this.#say(trace, doubt)
    expectKnown(trace, await this.#runsOf(trace))
  }

  async #runsOf({ id }: Trace): Promise<readonly Run[]> {
    const [project] = await this.#json('GET', `/sessions?name=${this.#options.project}`) as {
      id: string
    }[]
    if (project === undefined) return []
    const { runs } = await this.#json('POST', '/runs/query', { session: [project.id], trace: id,
      limit: 100, select: ['id', 'trace_id', 'inputs', 'outputs'] }) as { runs: Run[] }
    return runs
  }

  async #json(method: string, path: string, body?: object): Promise<unknown> {
    const text = await this.#send(path, body && Buffer.from(JSON.stringify(body)), {
      ...body && { 'content-type': 'application/json' },
    }, method)
    return text === '' ? undefined : JSON.parse(text)
  }

  async #send(path: string, body: Buffer | undefined, headers: Record<string, string>,
    method = 'POST'): Promise<string> {
    const answer = await fetch(`${this.#options.url}/api/v1${path}`, { method, headers,
      ...body && { body: new Uint8Array(body) } })
    const text = await answer.text()
    if (answer.ok) return text
    throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${text}`), {
      status: answer.status,
    })
  }
}

function expectKnown({ id: trace, known, doubt }: Trace, runs: readonly Run[]): void {
  const byId = new Map(runs.map((run) => [run.id, run]))
  for (const { member, texts } of known) {
    for (const [id, text] of texts) {
      expect(byId.get(id)?.[member]?.text, `${member} of span ${id} of ${trace}`).toBe(text)
      expect(byId.get(id)?.trace_id).toBe(trace)
    }
  }
  const sent = new Set([...known, ...doubt ? [doubt] : []].flatMap(({ texts }) => [
    ...texts.keys(),
  ]))
  expect(runs.filter(({ id }) => !sent.has(id))).toEqual([])
}

/** The first request on a new trace: its spans, which have begun. */
function begun(size: number, isBatch: boolean, project: string): Said {
  const texts = new Map(Array.from({ length: size }, () => [randomUUID(), `in ${randomUUID()}`]))
  const ids = [...texts.keys()]
  const root = segment(ids[0]!)
  const post = ids.map((id, index) => ({ id, trace_id: ids[0]!, session_name: project,
    dotted_order: index === 0 ? root : `${root}.${segment(id)}`,
    ...index > 0 && { parent_run_id: ids[0] }, name: `span ${index}`, run_type: 'chain',
    start_time: new Date().toISOString(), inputs: { text: texts.get(id) } })
  )
  const [path, body] = isBatch
    ? ['/runs/batch', jsonBody({ post, patch: [] })] as const
    : ['/runs/multipart', multipartBody(post.map((run) => ({ kind: 'post', run })))] as const
  return { path, body, member: 'inputs', texts }
}

/** A second request on the spans of the first: they end. */
function ended({ texts: begin, body }: Said): Said {
  const texts = new Map([...begin.keys()].map((id) => [id, `out ${id}`]))
  const orders = ordersIn(body.body.toString())
  const [trace] = begin.keys()
  const runs = [...texts].map(([id, text]) => ({ id, trace_id: trace!,
    dotted_order: orders.get(id)!, end_time: new Date().toISOString(), outputs: { text } })
  )
  return { path: '/runs/multipart', member: 'outputs', texts,
    body: multipartBody(runs.map((run) => ({ kind: 'patch', run }))) }
}

function ordersIn(body: string): ReadonlyMap<string, string> {
  return new Map(
    [...body.matchAll(/"dotted_order":"([^"]*)"/g)].map(([, order]) => [order!.slice(-36), order!]),
  )
}

/** A trace as OpenTelemetry's exporters send it, in one request. */
function otlpTrace(size: number, project: string): { readonly id: string; readonly said: Said } {
  const traceId = randomBytes(16).toString('hex')
  const ids = Array.from({ length: size }, () => randomBytes(8).toString('hex'))
  const texts = ids.map((id) => `in ${id}`)
  const startTimeUnixNano = `${Date.now()}000000`
  const spans = ids.map((spanId, index) => ({ traceId, spanId, name: `span ${index}`,
    ...index > 0 && { parentSpanId: ids[0] }, startTimeUnixNano, endTimeUnixNano: startTimeUnixNano,
    attributes: [{ key: 'input.value',
      value: { stringValue: JSON.stringify({ text: texts[index] }) } }, {
      key: 'langsmith.trace.session_name',
      value: { stringValue: project },
    }] })
  )
  return { id: dashed(traceId),
    said: { path: '/otel/v1/traces', member: 'inputs',
      body: jsonBody({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
      texts: new Map(ids.map((id, index) => [dashed(id.padStart(32, '0')), texts[index]!])) } }
}

function segment(id: string): string {
  return `${new Date().toISOString().replaceAll(/[-:.Z]/g, '')}000Z${id}`
}

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function jsonBody(value: object): ClientBody {
  return { body: Buffer.from(JSON.stringify(value)), contentType: 'application/json' }
}

function multipartBody(operations: readonly ClientOperation[]): ClientBody {
  return multipartOf(partsOfRuns(operations))
}
