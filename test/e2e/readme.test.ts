/** The README: its examples run unchanged, and it links to every page. */

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@langchain/langgraph-sdk'
import { Client as TraceClient } from 'langsmith'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isNight } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

const root = resolve(import.meta.dirname, '../..')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')
const run = promisify(execFile)

let server: ServerProcess
beforeAll(async () => {
  // Without keys the starter answers offline, and always the same.
  server = await startServer({ args: oneWorker,
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } })
})
afterAll(() => server?.close())

/** The one code block in this language, with the URL of this test's server. */
function example(language: string): string {
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))]
  expect(blocks).toHaveLength(1)
  return blocks[0]![1]!.replaceAll('http://localhost:2024', server.url)
}

it('Its curl example streams what the nodes of the starter do', async () => {
  const { stdout } = await run('bash', ['-ec', example('sh')], { cwd: root })
  const events = [...stdout.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
  expect(events).toEqual(['metadata', 'updates', 'updates', 'updates', 'end'])
  expect(stdout).toContain('get_weather')
  expect(stdout).toContain('Paris')
})

it('Its client example prints the answer and the length of the thread', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '--eval',
    example('ts')], { cwd: root })
  expect(stdout).toMatch(/It is \w+ in Paris/)
  expect(stdout).toContain('The thread keeps 4 messages.')
})

it.runIf(isNight)('Its starter asks by a form, writes again, and publishes what it may',
  async () => {
    const { threads, runs } = new Client({ apiUrl: server.url })
    const { thread_id: id } = await threads.create()
    const decide = (decision: object) =>
      runs.wait(id, 'desk', { command: { resume: { decisions: [decision] } } })
    const asked = await runs.wait(id, 'desk', {
      input: { messages: [{ role: 'user', content: 'How does a loom differ?' }] },
    })
    expect(asked).toMatchObject({ topic: 'How does a loom differ', sources: { length: 3 },
      __interrupt__: [{
        value: { actionRequests: [{ args: { title: 'How does a loom differ' } }],
          reviewConfigs: [{ argsSchema: { required: ['title', 'channel'] } }] },
      }] })
    expect(await decide({ type: 'reject', message: 'Shorter.' }))
      .toMatchObject({ messages: { 2: { content: expect.stringContaining('Shorter.') } } })
    const args = { title: 'Looms', channel: 'print', embargo_hours: 2 }
    expect(await decide({ type: 'edit', editedAction: { name: 'publish', args } }))
      .toMatchObject({ messages: { 3: { content: 'Published "Looms" (print, in 2 h).' } } })
  })

it('Its traced function is a trace that the same client reads', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', example('js')], {
    cwd: root,
  })
  expect(stdout).toContain('a thread is cloth now')
  const client = new TraceClient({ apiUrl: `${server.url}/api/v1`, apiKey: 'any' })
  const names: string[] = []
  for await (const span of client.listRuns({ projectName: 'default' })) names.push(span.name)
  expect(names).toEqual(['weave'])
})

/** A link may name a heading of a page, as `page.md#some-heading`. */
function leadsSomewhere(link: string): boolean {
  const [path = '', heading] = link.split('#')
  const page = resolve(root, path)
  if (heading === undefined || !existsSync(page)) return existsSync(page)
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text!.toLowerCase().replaceAll(/[^\w -]/g, '').replaceAll(' ', '-')
  )
  return headings.includes(heading)
}

it('It links to files and folders that exist, and to every page for operators', () => {
  const links = [...readme.matchAll(/\]\(((?!http|#)[^)]+)\)/g)].map(([, path]) => path!)
  expect(links.length).toBeGreaterThan(5)
  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([])
  const pages = readdirSync(resolve(root, 'docs/operate')).filter((name) => name.endsWith('.md'))
  expect(links).toEqual(expect.arrayContaining(pages.map((name) => `docs/operate/${name}`)))
})
