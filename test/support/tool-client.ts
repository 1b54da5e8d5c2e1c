/** A client of the Model Context Protocol that a test moves message by message. */

/** A message of JSON-RPC. */
export interface RpcMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** An answer, with its status. */
export interface RpcAnswer extends RpcMessage {
  readonly status: number
  readonly headers: Headers
}

/** A call that is under way. */
export interface OpenCall {
  /** Messages before the answer, one after another. Rejects when the stream has ended. */
  readonly messages: { next(): Promise<RpcMessage> }
  /** Id of the last event that has come; undefined before the first. */
  lastId(): string | undefined
  readonly result: Promise<RpcMessage>
}

/** Such a client. */
export type ToolClient = ReturnType<typeof toolClient>

interface Sent {
  readonly id?: number
  readonly signal?: AbortSignal
}

const own = 'io.modelcontextprotocol/'

/** Without `initialize`, it has no session. Of several servers, each message goes to the next. */
export function toolClient(...urls: readonly string[]) {
  let sent = 0
  let doors = urls
  const address = () => `${doors[sent++ % doors.length]!}/mcp`
  let headers: Record<string, string> = {}
  const post = (message: object, more: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(address(), { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      headers: { ...headers, 'content-type': 'application/json', ...more },
      ...signal && { signal } })
  const ask = async (method: string, params: object = {}): Promise<RpcAnswer> =>
    answerOf(await post({ id: 1, method, params }))
  const modernOf = (method: string, params: object, capabilities: object) => {
    const { _meta = {}, name } = params as { _meta?: object; name?: string }
    return [{ id: 1, method,
      params: { ...params,
        _meta: { ..._meta, [`${own}protocolVersion`]: '2026-07-28',
          [`${own}clientCapabilities`]: capabilities } } }, { 'mcp-protocol-version': '2026-07-28',
      'mcp-method': method, ...name !== undefined && { 'mcp-name': name } }] as const
  }
  const stream = (method: string, params: object, { id = 1, signal }: Sent = {}) =>
    opened(post({ id, method, params }, {}, signal))
  return {
    ask,
    stream,
    /** From now on, messages go to these servers. */
    moveTo: (...others: readonly string[]) => {
      doors = others
    },
    initialize: async (capabilities: object) => {
      const answer = await ask('initialize', { protocolVersion: '2025-11-25', capabilities })
      headers = { 'mcp-session-id': answer.headers.get('mcp-session-id')!,
        'mcp-protocol-version': '2025-11-25' }
    },
    notify: async (method: string, params: object) => (await post({ method, params })).status,
    answer: async (id: string | number, result: object) => (await post({ id, result })).status,
    call: (name: string, given: object = {}, sent: Sent = {}) =>
      stream('tools/call', { name, arguments: given }, sent),
    resume: (last: string) =>
      opened(
        fetch(address(), {
          headers: { ...headers, 'last-event-id': last, accept: 'text/event-stream' },
        }),
      ),
    asModern: async (method: string, params: object = {}, capabilities: object = {}) =>
      answerOf(await post(...modernOf(method, params, capabilities))),
    streamModern: (method: string, params: object, capabilities: object = {}) =>
      opened(post(...modernOf(method, params, capabilities))),
    subscribe: (notifications: object) => {
      const { messages, result } = opened(
        post(...modernOf('subscriptions/listen', { notifications }, {})),
      )
      result.catch(() => {})
      return messages
    },
  }
}

async function answerOf(response: Response): Promise<RpcAnswer> {
  const text = await response.text()
  const json = text === '' ? {} : JSON.parse(text) as RpcMessage
  return { ...json, status: response.status, headers: response.headers }
}

function opened(answering: Promise<Response>): OpenCall {
  const seen: RpcMessage[] = []
  const waiting: PromiseWithResolvers<RpcMessage>[] = []
  let isOver = false
  const result = Promise.withResolvers<RpcMessage>()
  let last: string | undefined
  const take = (message: RpcMessage) => {
    if (message.method === undefined) return result.resolve(message)
    const next = waiting.shift()
    if (next) next.resolve(message)
    else seen.push(message)
  }
  const note = (id: string) => {
    last = id
  }
  answering.then((response) => readAll(response, take, note)).catch(result.reject).finally(() => {
    isOver = true
    for (const { reject } of waiting) reject(noMore())
  })
  return {
    result: result.promise,
    lastId: () => last,
    messages: {
      next: () => {
        const first = seen.shift()
        if (first) return Promise.resolve(first)
        if (isOver) return Promise.reject(noMore())
        const next = Promise.withResolvers<RpcMessage>()
        waiting.push(next)
        return next.promise
      },
    },
  }
}

function noMore(): Error {
  return new Error('The stream of this call has ended without another message.')
}

async function readAll(response: Response, take: (message: RpcMessage) => void,
  note: (id: string) => void): Promise<void> {
  if (!response.headers.get('content-type')?.includes('event-stream')) {
    return take(await response.json() as RpcMessage)
  }
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      const id = /^id: (.+)$/m.exec(frame)?.[1]
      if (id !== undefined) note(id)
      const data = /^data: (.+)$/m.exec(frame)?.[1]
      if (data !== undefined) take(JSON.parse(data) as RpcMessage)
    }
  }
  throw new Error('The stream has ended without an answer.')
}
