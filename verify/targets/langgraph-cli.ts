/**
 * The target: the development server of `@langchain/langgraph-cli`, without faults. It is made for
 * development and testing and keeps threads in memory, so it promises nothing about a kill.
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { firstFreePort } from '../../test/support/port.ts'
import { waitForUrl } from './peer-process.ts'
import type { Target, TargetOptions } from './target.ts'

/** The newest one is 2.0.0, a publication of older code. */
const packages = ['@langchain/langgraph-cli@1.5.1', '@langchain/langgraph@1.4.18',
  '@langchain/core@1.2.13', '@langchain/langgraph-checkpoint@1.1.5']
/**
 * It sends traces to LangSmith, and has no effects, no idempotency keys, no crons, no times to
 * live, no prune and no messages for a run that executes.
 */
const missing = new RegExp(
  ['^(project|span|feedback|trace|example|prompt|queue|share|cron|mortal)\\.',
    '^(wrong\\.)?(v2|a2a|mcp)\\.', '^run\\.(inject|repeat)$', '^thread\\.(prune|remove)$',
    '^task\\.(charge|mail|draft)$'].join(
      '|',
    ),
)

export async function startLanggraphCli({ receiverUrl }: TargetOptions): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-peer-'))
  await cp(join(import.meta.dirname, '../agent/agent.ts'), join(folder, 'agent.ts'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'langgraph.json'),
    JSON.stringify({ node_version: '20', dependencies: ['.'],
      graphs: { verify: './agent.ts:graph' }, env: {} }))
  console.log(`Installing ${packages[0]} …`)
  await promisify(execFile)('npm', ['install', '--legacy-peer-deps', ...packages], { cwd: folder })
  const port = await firstFreePort()
  const url = `http://127.0.0.1:${port}`
  const server = spawn(process.execPath, ['node_modules/.bin/langgraphjs', 'dev', '--port',
    String(port), '--host', '127.0.0.1', '--no-browser'], {
    cwd: folder,
    env: { ...process.env, RECEIVER: receiverUrl, LANGSMITH_TRACING: 'false' },
    stdio: 'ignore',
    // The server starts others, which end with its group.
    detached: true,
  })
  const exited = once(server, 'exit')
  const close = async () => {
    process.kill(-server.pid!, 'SIGKILL')
    await exited
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    await waitForUrl(`${url}/ok`)
  } catch (error) {
    await close()
    throw error
  }
  return { name: 'langgraph-cli', urls: [url], loadMs: 30_000, faults: {}, missing, close }
}
