/** A deployment as tests see it: through the control API and the data API of a server. */

import type { Client } from '@langchain/langgraph-sdk'

import { say, texts } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'
import type { Built } from './deployed-project.ts'

/** An answer of the control API. */
export interface ControlReply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** One deployment of a server. */
export class DeployTarget {
  readonly url: string
  readonly name: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, name: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url
    this.name = name
    this.#headers = headers
  }

  get client(): Client {
    return clientOf(`${this.url}/d/${this.name}`, this.#headers)
  }

  /** Asks below the deployment; with bytes, a chunk is sent. */
  async ask(method: string, path: string, body?: unknown): Promise<ControlReply> {
    const isBytes = body instanceof Uint8Array
    const type = isBytes ? 'application/octet-stream' : 'application/json'
    const answer = await fetch(`${this.url}/control/v1/deployments${path}`, {
      method,
      headers: { ...this.#headers, ...body !== undefined && { 'content-type': type } },
      ...body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) },
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) as {} }
  }

  own(method: string, path = '', body?: unknown): Promise<ControlReply> {
    return this.ask(method, `/${this.name}${path}`, body)
  }

  create(settings: object = {}): Promise<ControlReply> {
    return this.ask('POST', '', { name: this.name, ...settings })
  }

  /** The deployment now. */
  async show<Shown = Readonly<Record<string, unknown>>>(): Promise<Shown> {
    return (await this.own('GET')).body as Shown
  }

  /** Begins a revision. Resolves with its name and what is missing. */
  async begin(
    { manifest }: Built,
  ): Promise<{ readonly name: string; readonly missing: readonly string[] }> {
    const { status, body } = await this.own('POST', '/revisions', { manifest })
    if (status >= 300) throw new Error(JSON.stringify(body))
    return { name: (body['revision'] as { name: string }).name,
      missing: body['missing'] as string[] }
  }

  /** Begins a revision and sends all that is missing. Resolves with its name and the bytes. */
  async upload(built: Built): Promise<{ readonly name: string; readonly bytes: number }> {
    const { name, missing } = await this.begin(built)
    let bytes = 0
    for (const sha256 of missing) {
      const data = built.chunks.get(sha256)!
      bytes += data.length
      const { status, body } = await this.own('PUT', `/revisions/${name}/chunks/${sha256}`, data)
      if (status !== 204) throw new Error(JSON.stringify(body))
    }
    return { name, bytes }
  }

  activate(name: string, options: object = { watch_s: 0 }): Promise<ControlReply> {
    return this.own('POST', `/revisions/${name}/activate`, options)
  }

  /** Uploads and activates. Throws if it does not become active. */
  async deploy(built: Built, options?: object): Promise<string> {
    const { name } = await this.upload(built)
    const { status, body } = await this.activate(name, options)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return name
  }

  /** What the graph `agent` answers on a thread of its own. */
  async answer(text = 'hello'): Promise<string | undefined> {
    const { runs, threads } = this.client
    const { thread_id: id } = await threads.create()
    return texts(await runs.wait(id, 'agent', { input: say(text) })).at(-1)
  }
}
