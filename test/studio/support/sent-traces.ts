/** Traces as a client sends them, for the pages that show them. */

import { randomUUID } from 'node:crypto'

/** A span of a client. */
export interface SentSpan {
  readonly id: string
  readonly trace_id: string
  readonly dotted_order: string
  readonly start_time: string
  readonly end_time: string | null
  readonly [name: string]: unknown
}

const orderTime = (ms: number) => `${new Date(ms).toISOString().replaceAll(/[-:.]|Z$/g, '')}000Z`

/** A span below another one, or a root; times are milliseconds after `beganMs`. */
export function spanOf({ project, name, beganMs, fromMs = 0, toMs = 10, parent, ...more }: {
  readonly project: string
  readonly name: string
  readonly beganMs: number
  readonly fromMs?: number
  readonly toMs?: number | null
  readonly parent?: SentSpan | undefined
  readonly [name: string]: unknown
}): SentSpan {
  const id = randomUUID()
  const order = `${orderTime(beganMs + fromMs)}${id}`
  return { id, name, session_name: project, run_type: 'chain', trace_id: parent?.trace_id ?? id,
    parent_run_id: parent?.id ?? null,
    dotted_order: parent === undefined ? order : `${parent.dotted_order}.${order}`,
    start_time: new Date(beganMs + fromMs).toISOString(),
    end_time: toMs === null ? null : new Date(beganMs + toMs).toISOString(), ...more }
}

/** A question and its answer: a root with a call of a model, and tools of which one may fail. */
export function supportTrace({ project, beganMs, words, error }: {
  readonly project: string
  readonly beganMs: number
  readonly words: string
  readonly error?: string
}): readonly SentSpan[] {
  const asked = { role: 'user', content: words }
  const answered = { role: 'assistant', content: `An answer to: ${words}` }
  const root = spanOf({ project, beganMs, name: 'support agent', toMs: 3_200, tags: ['web'],
    inputs: { messages: [asked] }, outputs: { messages: [asked, answered] },
    extra: { metadata: { customer: 'c-1' } }, ...error !== undefined && { error } })
  const child = (name: string, type: string, fromMs: number, toMs: number, more: object = {},
    parent = root) =>
    spanOf({ project, beganMs, name, parent, fromMs, toMs, run_type: type, inputs: { query: name },
      outputs: { found: name }, ...more })
  const tools = child('tools', 'chain', 1_600, 2_400)
  return [root, child('ChatModel', 'llm', 100, 1_500, { inputs: { messages: [[asked]] }, outputs: {
    generations: [[{
      message: { role: 'assistant', content: '',
        tool_calls: [{ name: 'search', args: { city: 'Oslo' } }] },
    }]],
    usage_metadata: { input_tokens: 20, output_tokens: 3, total_tokens: 23,
      input_token_details: { cache_read: 12 } },
  } }), tools, child('search', 'tool', 1_650, 2_000, {}, tools),
    child('geocode', 'tool', 2_000, 2_300, error === undefined ? {} : { error }, tools)]
}

/** Sends spans as clients do. They can be asked for when this resolves. */
export async function sendSpans(url: string, spans: readonly SentSpan[],
  headers: Readonly<Record<string, string>> = {}): Promise<void> {
  for (let at = 0; at < spans.length; at += 1_000) {
    const { ok, status } = await fetch(`${url}/api/v1/runs/batch`, { method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ post: spans.slice(at, at + 1_000) }) })
    if (!ok) throw new Error(`Spans were answered ${status}.`)
  }
}

/** The id of a project by its name. */
export async function projectId(url: string, name: string,
  headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(`${url}/api/v1/sessions?name=${encodeURIComponent(name)}`, { headers })
  const [project] = await answer.json() as readonly { readonly id: string }[]
  return project!.id
}
