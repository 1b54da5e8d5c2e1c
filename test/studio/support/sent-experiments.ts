/** Datasets and experiments as clients send them, for the pages that show them. */

import { randomUUID } from 'node:crypto'

import { sendSpans, spanOf } from './sent-traces.ts'

async function sent<Answer>(url: string, method: string, body?: unknown): Promise<Answer> {
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json' },
    ...body !== undefined && { body: JSON.stringify(body) } })
  if (!response.ok) throw new Error(`${method} ${url}: ${await response.text()}`)
  return await response.json() as Answer
}

/** An example as it is sent. */
export interface SentExample {
  readonly inputs: object
  readonly outputs: object
  readonly split?: string
}

/** Makes a dataset. Returns its id and those of its examples. */
export async function sendDataset(url: string, name: string,
  examples: readonly SentExample[]): Promise<{ readonly id: string; readonly ids: string[] }> {
  const { id } = await sent<{ id: string }>(`${url}/api/v1/datasets`, 'POST', { name,
    data_type: 'kv' })
  const ids: string[] = []
  for (let at = 0; at < examples.length; at += 1_000) {
    const made = await sent<{ id: string }[]>(`${url}/api/v1/examples/bulk`, 'POST',
      examples.slice(at, at + 1_000).map((each) => ({ dataset_id: id, ...each })))
    ids.push(...made.map((each) => each.id))
  }
  return { id, ids }
}

/** The smallest picture. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q' +
    'DwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Adds an example with files, by their names. Returns its id. */
export async function sendFiles(url: string, dataset: string,
  files: Readonly<Record<string, Blob>>): Promise<string> {
  const id = randomUUID()
  const form = new FormData()
  const json = (value: object) => new Blob([JSON.stringify(value)], { type: 'application/json' })
  form.append(id, json({}))
  form.append(`${id}.inputs`, json({ question: 'What is this?' }))
  for (const [name, file] of Object.entries(files)) form.append(`${id}.attachment.${name}`, file)
  const { ok, status } = await fetch(`${url}/v1/platform/datasets/${dataset}/examples`, {
    method: 'POST',
    body: form,
  })
  if (!ok) throw new Error(`The example was answered ${status}.`)
  return id
}

/** What a program answered to an example, and how good it was. */
export interface SentAnswer {
  readonly example: string
  readonly words: string
  readonly score: number
  readonly error?: string
}

/** Makes an experiment over a dataset, with its runs and their scores. Returns its id. */
export async function sendExperiment(url: string, { dataset, name, answers }: {
  readonly dataset: string
  readonly name: string
  readonly answers: readonly SentAnswer[]
}): Promise<string> {
  const { id } = await sent<{ id: string }>(`${url}/api/v1/sessions`, 'POST', { name,
    reference_dataset_id: dataset })
  const runs = answers.map(({ example, words, error }, at) =>
    spanOf({ project: name, name: 'target', beganMs: Date.now() - 60_000 + at, toMs: 500 + at,
      reference_example_id: example, inputs: {}, outputs: { answer: words },
      ...error !== undefined && { error, outputs: null } })
  )
  await sendSpans(url, runs)
  for (const [at, { score }] of answers.entries()) {
    await sent(`${url}/api/v1/feedback`, 'POST', { run_id: runs[at]!.id, trace_id: runs[at]!.id,
      key: 'correctness', score })
  }
  return id
}
