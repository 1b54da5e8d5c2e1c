/** A revision from end to end: built in one place, unpacked and served in another. */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { runNewCommand } from '../../src/cli/new-command.ts'
import { readManifest, RevisionCache } from '../../src/revision/index.ts'
import type { Manifest } from '../../src/revision/index.ts'
import { heddleProcess } from '../support/command.ts'
import { linkPackages } from '../support/linked-packages.ts'
import { runIn } from '../support/project-command.ts'
import { say, texts } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

let root: string
/** A workspace with the starter in `apps/shop`, which uses a package of it in TypeScript. */
let workspace: string
let shop: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-build-'))
  workspace = join(root, 'workspace')
  shop = join(workspace, 'apps/shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  write('package.json', JSON.stringify({ workspaces: ['apps/*', 'libs/*'] }))
  write('package-lock.json', '{}')
  write('libs/lib/package.json', '{"name": "lib", "type": "module", "main": "index.ts"}')
  write('libs/lib/index.ts',
    'export const answer = (question: string): string => `lib: ${question}`')
  write('apps/shop/src/echo.ts', `import { MessagesAnnotation, StateGraph } from
    '@langchain/langgraph'
    import { readFileSync } from 'node:fs'
    import { answer } from 'lib'
    const note: string = readFileSync(new URL('./note.txt', import.meta.url), 'utf8')
    export const graph = new StateGraph(MessagesAnnotation)
      .addNode('reply', ({ messages }) => ({ messages: [{ role: 'ai',
        content: answer(messages.at(-1)!.text) + note }] }))
      .addEdge('__start__', 'reply').compile()`)
  write('apps/shop/src/note.txt', '!')
  write('apps/shop/.env', 'SECRET=hunter2')
  const config = JSON.parse(readFileSync(join(shop, 'langgraph.json'), 'utf8')) as {
    graphs: Record<string, unknown>
  }
  write('apps/shop/langgraph.json',
    JSON.stringify({ env: '.env', graphs: { ...config.graphs, echo: './src/echo.ts:graph' } }))
  await linkPackages(shop, workspace)
  await promisify(execFile)('ln', ['-s', '../libs/lib', join(workspace, 'node_modules/lib')])
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  const file = join(workspace, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

it('A project is built, checked, unpacked elsewhere and served from there.', async () => {
  const out = join(root, 'out')
  const built = await heddleProcess('build', shop, '--check', '--out', out)
  expect([built.status, built.stderr]).toEqual([0, ''])
  expect(built.stdout).toMatch(/^build +\d\d packages, \d\d own files/)
  expect(built.stdout).toMatch(/check +agent: model, tools\n(.*\n)?check +echo: reply/)
  const manifest = readManifest(JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')))
  expect(JSON.stringify(manifest)).not.toContain('hunter2')
  expect(manifest).toMatchObject({ root: 'apps/shop', wants_env: ['SECRET'] })
  // What is unpacked must need nothing of where it was built.
  await rename(workspace, `${workspace}-moved`)
  const { configFile } = await unpacked(manifest, out)
  const server = await startServer({ project: dirname(configFile), args: oneWorker })
  try {
    const { runs, threads, assistants } = clientOf(server.url)
    const { thread_id: id } = await threads.create()
    expect(texts(await runs.wait(id, 'echo', { input: say('hello') }))).toEqual(['hello',
      'lib: hello!'])
    expect(texts(await runs.wait(id, 'agent', { input: say('weather in Paris?') })).at(-1))
      .toMatch(/Paris/)
    const { state_schema: schema } = await assistants.getSchemas('desk')
    expect(schema?.properties).toMatchObject({ sources: { type: 'array' } })
  } finally {
    await server.close()
    await rename(`${workspace}-moved`, workspace)
  }
})

async function unpacked(manifest: Manifest, out: string): Promise<{ readonly configFile: string }> {
  const cache = await RevisionCache.open({ directory: join(root, 'revisions'), bytesMax: 1e10,
    env: { nowMs: () => 0 } })
  return await cache.hold(manifest, (sha256) => readFile(join(out, 'chunks', sha256)))
}

describe('a graph that cannot be loaded', () => {
  const loadFault = /^heddle: The graph "echo" cannot be loaded: .*not today/

  beforeAll(() =>
    write('apps/shop/src/echo.ts', 'export const graph = 1\nthrow new Error("not today")')
  )

  it('is refused by --check with its place, and with exit code 3', async () => {
    const { status, stderr, stdout } = await heddleProcess('build', shop, '--check')
    expect(status).toBe(3)
    expect(stderr).toMatch(loadFault)
    expect(stdout).toMatch(/check +echo: cannot be loaded/)
  })

  it('is a warning without --check, and the revision is built', async () => {
    const { status, stderr, stdout } = await heddleProcess('build', shop)
    expect(status).toBe(0)
    expect(stderr).toMatch(loadFault)
    expect(stderr).toMatch(/\nheddle: The revision was built in spite of it: .*--check fails then/)
    expect(stdout).toMatch(/check +agent: model, tools\n/)
    expect(stdout).toMatch(/check +echo: cannot be loaded\n(.*\n)?revision +/)
  })

  it('is a warning as well if the process that loads it ends', async () => {
    write('apps/shop/src/echo.ts', 'process.exit(7)')
    const { status, stderr, stdout } = await heddleProcess('build', shop, '--json')
    expect(status).toBe(0)
    expect(stderr).toMatch(/^heddle: The graphs cannot be loaded: .*echo/)
    expect(JSON.parse(stdout)).toMatchObject({ revision: expect.any(String) })
  })

  it('is not loaded with --no-check', async () => {
    const { status, stderr, stdout } = await heddleProcess('build', shop, '--no-check')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).not.toMatch(/^check/m)
  })
})
