/**
 * Runs the public conformance kit of A2A against a server of this folder, and prints its score:
 *
 *   node scripts/a2a-kit.ts <folder of a2a-tck> [<python>]
 *
 * The Python has the packages that the kit's pyproject.toml names. docs/operate/agents.md has the
 * score and the reason of each failure.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { serverProgram } from './server-program.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const project = join(root, 'test/upstream/a2a')

/** Longest time until the server answers. */
const startMs = 60_000

const [kit, python = 'python3'] = process.argv.slice(2)
if (kit === undefined) {
  process.stderr.write('Name the folder of the kit: node scripts/a2a-kit.ts <a2a-tck> [<python>]\n')
  process.exit(2)
}

const data = await mkdtemp(join(tmpdir(), 'heddle-a2a-'))
const server = spawn(process.execPath, [serverProgram, '--config', project, '--data', data,
  '--port', '0', '--workers', '1'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, TCK_STREAMING_TIMEOUT: '2.0' } })
try {
  const url = await addressIn(server.stdout)
  const tests = spawn(python, ['-m', 'pytest', 'tests/mandatory', 'tests/optional', '--sut-url',
    `${url.replace('127.0.0.1', 'localhost')}/a2a/agent`, '--test-scope', 'all', '--transports',
    'jsonrpc', '-q', '--tb=line', '-rfE', '-p', 'no:cacheprovider'], { cwd: kit, stdio: 'inherit',
    env: { ...process.env, TCK_STREAMING_TIMEOUT: '2.0' } })
  const [code] = await once(tests, 'exit') as [number | null]
  process.exitCode = code ?? 1
} finally {
  server.kill()
  await once(server, 'exit')
  await rm(data, { recursive: true, force: true })
}

/** The address that the server prints when it is ready. */
async function addressIn(lines: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  const late = setTimeout(() => lines.emit('error', new Error(`not ready: ${text}`)), startMs)
  for await (const chunk of lines) {
    text += String(chunk)
    const [found] = /https?:\/\/[^\s"']+:\d+/.exec(text) ?? []
    if (found === undefined) continue
    clearTimeout(late)
    return found
  }
  throw new Error(`The server ended: ${text}`)
}
