/**
 * The official TypeScript clients of the Model Context Protocol, unmodified: of the revision with
 * sessions, and of the one without. Both call the same graphs on one server.
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { makeCuttingProxy } from '../support/cutting-proxy.ts'
import { useGates } from '../support/gate.ts'
import { installPackages } from '../support/installed-packages.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

/** The members of both clients that are used here. */
interface Client {
  connect(transport: Transport): Promise<void>
  close(): Promise<void>
  listTools(params?: object): Promise<{ tools: readonly Tool[] }>
  callTool(params: object, ...rest: unknown[]): Promise<ToolResult>
  setRequestHandler(method: unknown, handler: (request: Elicitation) => unknown): void
  getServerVersion(): { readonly name: string } | undefined
}

interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: { readonly type: string; readonly properties?: object }
}

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

interface Elicitation {
  readonly params: { readonly message: string }
}

interface Transport {
  readonly sessionId?: string
  terminateSession?(): Promise<void>
}

interface ClientModule {
  readonly Client: new(info: object, options: object) => Client
  readonly StreamableHTTPClientTransport: new(url: URL, options?: object) => Transport
  readonly ElicitRequestSchema?: unknown
}

const folder = import.meta.dirname
const server = useServer({ project: 'conformance' })
const gate = useGates()
const proxy = makeCuttingProxy()

const load = async (path: string) =>
  await import(pathToFileURL(join(folder, 'node_modules', path)).href) as ClientModule

const clients = {
  'with sessions': async (): Promise<ClientModule> => {
    const sdk = '@modelcontextprotocol/sdk/dist/esm'
    return { ...await load(`${sdk}/client/index.js`),
      ...await load(`${sdk}/client/streamableHttp.js`), ...await load(`${sdk}/types.js`) }
  },
  'without sessions': () => load('@modelcontextprotocol/client/dist/index.mjs'),
} as const

beforeAll(() => installPackages(folder, 'the clients of the Model Context Protocol'))
afterAll(() => proxy.close())

describe.each(Object.entries(clients))('the client %s', (kind, loaded) => {
  const opened: Client[] = []
  let client: Client
  let transport: Transport
  const questions: string[] = []
  let whenAsked = async () => {}
  let answer: object = { action: 'accept', content: { answer: 'this' } }

  /** A client whose user answers, unless it shows no forms. */
  async function connected(capabilities: object, url = server.url): Promise<[Client, Transport]> {
    const module = await loaded()
    const made = new module.Client({ name: 'test', version: '1' }, { capabilities,
      ...kind === 'without sessions' && { versionNegotiation: { mode: 'auto' } } })
    if (Object.keys(capabilities).length > 0) {
      const asked = module.ElicitRequestSchema ?? 'elicitation/create'
      made.setRequestHandler(asked, async ({ params }) => {
        questions.push(params.message)
        await whenAsked()
        return answer
      })
    }
    const way = new module.StreamableHTTPClientTransport(new URL(`${url}/mcp`))
    await made.connect(way)
    opened.push(made)
    return [made, way]
  }

  beforeAll(async () => {
    ;[client, transport] = await connected({ elicitation: { form: {} } })
  })
  afterAll(async () => {
    await transport?.terminateSession?.()
    for (const each of opened) await each.close()
  })

  it('finds a tool for each assistant', async () => {
    const { tools } = await client.listTools()
    const echo = tools.find(({ name }) => name === 'echo')
    expect(echo).toMatchObject({ description: 'Says back what it hears.',
      inputSchema: { type: 'object' } })
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    expect(client.getServerVersion()).toMatchObject({ name: 'heddle' })
    expect(transport.sessionId === undefined).toBe(kind === 'without sessions')
  })

  it('calls a tool, with forms and without', async () => {
    const [plain] = await connected({})
    for (const each of [client, plain]) {
      const result = await each.callTool({ name: 'echo', arguments: { ...say('x') } })
      expect(result.structuredContent).toMatchObject({
        messages: [{ content: 'x' }, { content: 'echo: x' }],
      })
      expect(JSON.parse(result.content[0]!.text!)).toEqual(result.structuredContent)
    }
  })

  it('learns why a tool failed, and that there is none', async () => {
    expect(await client.callTool({ name: 'failing', arguments: { topic: 'bad' } }))
      .toMatchObject({ isError: true, content: [{ text: 'bad' }] })
    await expect(client.callTool({ name: 'nobody' })).rejects.toMatchObject({ code: -32_602 })
  })

  it('sees the progress of a call', async () => {
    const seen: { readonly progress: number }[] = []
    const options = { onprogress: (each: { readonly progress: number }) => seen.push(each) }
    const params = { name: 'steps', arguments: { topic: 't' } }
    await (kind === 'with sessions'
      ? client.callTool(params, undefined, options)
      : client.callTool(params, options))
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.map(({ progress }) => progress)).toEqual(seen.map((_, index) => index + 1))
  })

  it('is asked by a graph, twice if it must be', async () => {
    questions.length = 0
    answer = { action: 'accept', content: { answer: 'this' } }
    const { structuredContent } = await client.callTool({ name: 'asktwice', arguments: {} })
    expect(structuredContent).toMatchObject({ answers: ['this', 'this'] })
    expect(questions).toEqual(['first?', 'second?'])
  })

  it.runIf(kind === 'with sessions')('comes back to a call whose connection breaks', async () => {
    questions.length = 0
    answer = { action: 'accept', content: { answer: 'this' } }
    const [far] = await connected({ elicitation: { form: {} } }, await proxy.to(server.url))
    let breaks = 0
    whenAsked = async () => {
      // Once: the client waits longer before each further try.
      if (breaks++ > 0) return
      proxy.cut()
      await expect.poll(() => proxy.open).toBeGreaterThan(0)
    }
    const { structuredContent } = await far.callTool({ name: 'asktwice', arguments: {} })
    whenAsked = async () => {}
    expect(structuredContent).toMatchObject({ answers: ['this', 'this'] })
    expect(questions).toEqual(['first?', 'second?'])
    await expect.poll(() => server.client.threads.search({ metadata: { mcp_tool: 'asktwice' } }))
      .toEqual([])
  })

  it('ends a call whose question its user declines', async () => {
    answer = { action: 'decline' }
    expect(await client.callTool({ name: 'ask', arguments: { question: 'q' } }))
      .toMatchObject({ isError: true })
    await expect.poll(() => server.client.threads.search({ metadata: { mcp_tool: 'ask' } }))
      .toEqual([])
  })

  it('learns of a question that it cannot ask', async () => {
    const [plain] = await connected({})
    const asked = plain.callTool({ name: 'ask', arguments: { question: 'which city?' } })
    if (kind === 'with sessions') {
      expect(await asked).toMatchObject({ isError: true,
        content: [{ text: expect.stringContaining('which city?') }] })
    } else await expect(asked).rejects.toMatchObject({ code: -32_021 })
  })

  it('cancels the run of a call that it gives up', async () => {
    const hold = gate()
    const left = new AbortController()
    const params = { name: 'held', arguments: { ...say(`hold ${hold.url}`) } }
    const options = { signal: left.signal }
    const gone = (kind === 'with sessions'
      ? client.callTool(params, undefined, options)
      : client.callTool(params, options)).catch(() => 'gone')
    await hold.arrived()
    left.abort()
    expect(await gone).toBe('gone')
    await hold.left()
  })
})
