/** A server with something of each kind, for what looks at every page. */

import { say } from '../../support/run-events.ts'
import type { ServerInUse } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'
import { chatManifest } from './chat-manifest.ts'
import { sendDataset, sendExperiment } from './sent-experiments.ts'
import { projectId, sendSpans, supportTrace } from './sent-traces.ts'

/** Addresses of what was made, below `/studio/`. */
export interface Furnished {
  readonly chat: string
  /** Search parameters of the chat: a step of the past, and two steps that are compared. */
  readonly past: string
  readonly compared: string
  readonly failed: string
  readonly asking: string
  readonly assistant: string
  readonly project: string
  readonly trace: string
  readonly pair: string
  readonly shared: string
  readonly dataset: string
  readonly experiments: string
  readonly prompt: string
  readonly queue: string
  readonly rule: string
  readonly dashboard: string
}

/** Makes something of each kind. */
export async function furnish(server: ServerInUse): Promise<Furnished> {
  const { crons, store } = server.client
  await crons.create('echo', { schedule: '0 7 * * 1-5', timezone: 'Asia/Tokyo', input: say('hi') })
  await store.putItem(['users', 'ada', 'likes'], 'food', { text: 'Ada likes plum jam' })
  return { ...await furnishThreads(server), ...await tracesOf(server),
    ...await evaluation(server.url) }
}

/** Makes threads: a chat, one that failed and one that asks. */
export async function furnishThreads({ client: { threads, runs, assistants } }: ServerInUse) {
  const { thread_id: chat } = await threads.create({ graphId: 'echo' })
  await runs.wait(chat, 'echo', {
    input: say('## A title\n\n- one\n- `two`\n\n```js\nlet a = 1\n```'),
  })
  await runs.wait(chat, 'echo', { input: say('again, and $a^2$') })
  const { thread_id: failed } = await threads.create({ graphId: 'failing' })
  await runs.wait(failed, 'failing', { input: { topic: 'broke' }, raiseError: false })
  const { thread_id: asking } = await threads.create({ graphId: 'ask' })
  await runs.wait(asking, 'ask', { input: { question: 'Which one?' } })
  const [assistant] = await assistants.search({ graphId: 'configured' })
  const [last, before] = (await threads.getHistory(chat))
    .map(({ checkpoint: { checkpoint_id: id } }) => id)
  return { chat: `threads/${chat}`, past: `?at=${before}`, compared: `?at=${before}&vs=${last}`,
    failed: `threads/${failed}`, asking: `threads/${asking}`,
    assistant: `assistants?id=${assistant!.assistant_id}` }
}

async function tracesOf({ url }: ServerInUse) {
  const asked = (words: string, ageMs: number, error?: string) =>
    supportTrace({ project: 'furnished', beganMs: Date.now() - ageMs, words,
      ...error !== undefined && { error } })
  const traces = [asked('Where is it?', 3_600_000, 'TimeoutError: no answer'),
    asked('Where is my parcel?', 1_800_000)]
  await sendSpans(url, traces.flat())
  const id = await projectId(url, 'furnished')
  const [first, second] = traces.map(([root]) => root!.id)
  const share = await made<{ share_token: string }>(url, `runs/${first}/share`, {}, 'PUT')
  const { id: section } = await made<{ id: string }>(url, 'charts/section', { title: 'Support',
    index: 1 })
  await made(url, 'charts/create', { title: 'Traces', chart_type: 'bar', index: 1,
    section_id: section, series: [{ name: 'Count', metric: 'run_count' }],
    common_filters: { session: [id], filter: 'eq(is_root, true)' } })
  const queue = await made<{ id: string }>(url, 'annotation-queues', { name: 'Failures' })
  await made(url, `annotation-queues/${queue.id}/runs`, [first])
  const rule = await made<{ id: string }>(url, 'runs/rules', {
    display_name: 'Failures before people',
    session_id: id,
    filter: 'eq(status, "error")',
    add_to_annotation_queue_id: queue.id,
  })
  return { project: `traces/${id}`, trace: `traces/${id}/${first}`,
    pair: `traces/${id}/${first}?vs=${second}`, shared: `public/${share.share_token}`,
    queue: `queues/${queue.id}`, rule: `rules/${rule.id}`,
    dashboard: `charts?dashboard=${section}` }
}

async function evaluation(url: string) {
  const { id, ids } = await sendDataset(url, 'rivers',
    Array.from({ length: 12 },
      (_, at) => ({ inputs: { question: `Which river is no. ${at}?` },
        outputs: { answer: `It is river ${at}.` } })))
  const experiment = (name: string, score: number) =>
    sendExperiment(url, { dataset: id, name,
      answers: ids.map((example, at) => ({ example,
        words: `It was river ${at}, as far as anybody knows.`, score: at % 3 ? score : 0,
        ...at === 9 && { error: 'TimeoutError: none' } })
      ) })
  const compared = [await experiment('small', 1), await experiment('large', 0.5)]
  await made(url, 'repos', { repo_handle: 'explain', is_public: false, tags: ['weaving'],
    description: 'Explains words of weavers.' })
  await made(url, 'commits/-/explain', { description: 'Begin',
    manifest: chatManifest('You teach weaving.', 'What is {what}?') })
  return { dataset: `datasets/${id}`, prompt: 'prompts/explain',
    experiments: `datasets/${id}?view=experiments&compare=${compared.join(',')}` }
}

async function made<Answer = unknown>(url: string, path: string, body: unknown,
  method = 'POST'): Promise<Answer> {
  const answer = await ask(url, method, `/api/v1/${path}`, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body as Answer
}
