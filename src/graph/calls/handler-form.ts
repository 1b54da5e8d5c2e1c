/** The two forms of handlers by which clients of undici take an answer, as one. */

/** Headers as they are on the wire: names and values in turn. */
export type RawHeaders = readonly (Buffer | string)[]

/** Way of a client to steer its call. */
export interface CallControl {
  abort(reason?: unknown): void
  resume(): void
}

/** The client of a call. False: it takes no more until it resumes. */
export interface ClientSide {
  started(control: CallControl): void
  head(status: number, headers: RawHeaders, statusText: string): boolean
  chunk(chunk: Buffer): boolean
  end(trailers: RawHeaders): void
  fail(error: Error): void
}

/** Listener for the wire. False: the wire should wait until it is resumed. */
export interface WireEvents {
  /** Bytes of the request are about to be sent. Called again if the connection is replaced. */
  started(control: CallControl): void
  head(status: number, headers: RawHeaders, statusText: string): boolean
  chunk(chunk: Buffer): boolean
  end(trailers: RawHeaders): void
  fail(error: Error): void
}

/** Handler up to version 7. */
interface OldHandler {
  onConnect(abort: (reason?: unknown) => void, context?: unknown): void
  onResponseStarted?(): void
  onHeaders(status: number, headers: RawHeaders, resume: () => void, text: string): boolean | void
  onData(chunk: Buffer): boolean | void
  onComplete(trailers: RawHeaders): void
  onError(error: Error): void
}

/** Control of a call from version 7 on. */
interface Controller {
  readonly rawHeaders?: RawHeaders | null
  readonly rawTrailers?: RawHeaders | null
  readonly paused: boolean
  pause(): void
  resume(): void
  abort(reason: unknown): void
}

type FieldObject = Readonly<Record<string, string | string[]>>

/** Handler from version 7 on. */
interface NewHandler {
  onRequestStart(controller: Controller, context: unknown): void
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: FieldObject,
    text?: string): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: FieldObject): void
  onResponseError?(controller: Controller, error: Error): void
}

/** A handler of either form. */
export type Handler = OldHandler | NewHandler

/** True for an object that undici would take as a handler. */
export function isHandler(value: unknown): value is Handler {
  const { onConnect, onHeaders, onRequestStart } = (value ?? {}) as Record<string, unknown>
  return typeof onRequestStart === 'function'
    || (typeof onConnect === 'function' && typeof onHeaders === 'function')
}

function isNew(handler: Handler): handler is NewHandler {
  return 'onRequestStart' in handler && typeof handler.onRequestStart === 'function'
}

/** The client behind a handler. */
export function clientBehind(handler: Handler): ClientSide {
  return isNew(handler) ? newClient(handler) : oldClient(handler)
}

/** A handler of the same form, for the wire. */
export function handlerLike(handler: Handler, events: WireEvents): object {
  return isNew(handler) ? newWire(events) : oldWire(events)
}

function oldClient(handler: OldHandler): ClientSide {
  let resume = () => {}
  return {
    started: (control) => {
      resume = () => control.resume()
      handler.onConnect((reason) => control.abort(reason), null)
    },
    head: (status, headers, text) => {
      handler.onResponseStarted?.()
      return handler.onHeaders(status, headers, () => resume(), text) !== false
    },
    chunk: (chunk) => handler.onData(chunk) !== false,
    end: (trailers) => handler.onComplete(trailers),
    fail: (error) => handler.onError(error),
  }
}

function newClient(handler: NewHandler): ClientSide {
  let controller!: ClientController
  return {
    started: (control) => {
      controller = new ClientController(control)
      handler.onRequestStart(controller, {})
    },
    head: (status, headers, text) => {
      controller.rawHeaders = headers
      handler.onResponseStarted?.()
      handler.onResponseStart?.(controller, status, fieldsOf(headers), text)
      return !controller.paused
    },
    chunk: (chunk) => {
      handler.onResponseData?.(controller, chunk)
      return !controller.paused
    },
    end: (trailers) => {
      controller.rawTrailers = trailers
      handler.onResponseEnd?.(controller, fieldsOf(trailers))
    },
    fail: (error) => handler.onResponseError?.(controller, error),
  }
}

/** The controller that a client of version 7 or newer gets. */
class ClientController implements Controller {
  rawHeaders: RawHeaders | null = null
  rawTrailers: RawHeaders | null = null
  paused = false
  aborted = false
  reason: unknown = null
  readonly #control: CallControl

  constructor(control: CallControl) {
    this.#control = control
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#control.resume()
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#control.abort(reason)
  }
}

function oldWire(events: WireEvents): OldHandler {
  let resume = () => {}
  return {
    onConnect: (abort) => events.started({ abort, resume: () => resume() }),
    onHeaders: (status, headers, resumeWire, text) => {
      resume = resumeWire
      return events.head(status, headers, text)
    },
    onData: (chunk) => events.chunk(chunk),
    onComplete: (trailers) => events.end(trailers ?? []),
    onError: (error) => events.fail(error),
  }
}

function newWire(events: WireEvents): NewHandler {
  const pausing = (controller: Controller, goesOn: boolean) => {
    if (!goesOn) controller.pause()
  }
  return {
    onRequestStart: (controller) =>
      events.started({ abort: (reason) => controller.abort(reason), resume: () =>
        controller.resume() }),
    onResponseStart: (controller, status, headers, text = '') =>
      pausing(controller, events.head(status, controller.rawHeaders ?? rawOf(headers), text)),
    onResponseData: (controller, chunk) => pausing(controller, events.chunk(chunk)),
    onResponseEnd: (controller, trailers) =>
      events.end(controller.rawTrailers ?? rawOf(trailers ?? {})),
    onResponseError: (_, error) => events.fail(error),
  }
}

/** Raw headers as an object. A name that occurs more than once has a list. */
function fieldsOf(raw: RawHeaders): FieldObject {
  const fields: Record<string, string | string[]> = {}
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = textOf(raw[at]!).toLowerCase()
    const value = textOf(raw[at + 1]!)
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined
    Object.defineProperty(fields, name, { configurable: true, enumerable: true, writable: true,
      value: known === undefined ? value : [known, value].flat() })
  }
  return fields
}

function rawOf(fields: FieldObject): Buffer[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [Buffer.from(name, 'latin1'), Buffer.from(each, 'latin1')])
  )
}

function textOf(value: Buffer | string): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}
