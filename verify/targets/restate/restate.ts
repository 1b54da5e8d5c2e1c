/** The target: Restate, for durable steps: a server and a service, both of which can be killed. */

import { execFile, spawn } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { until } from '../../../test/bench/patience.ts'
import { firstFreePort } from '../../../test/support/port.ts'
import { killProcess, waitForUrl } from '../peer-process.ts'
import type { Target, TargetOptions } from '../target.ts'
import { startDoor } from './door.ts'

const packages = ['@restatedev/restate-server@1.7.12', '@restatedev/restate-sdk@1.17.2']
const startMs = 60_000
/** The program itself: the script in `.bin` starts it as a process of its own. */
const program = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/` +
  'restate-server'
/** Left out is all but runs one after another, durable steps, idempotency keys and state. */
const missing = new RegExp(
  `^(?!(${
    ['run\\.(wait|create|repeat|get|join|list)', 'thread\\.(get|state)', 'state\\.update',
      'task\\.(plain|slow|fail|charge)', 'strategy\\.enqueue'].join('|')
  })$)`,
)

export async function startRestate({ receiverUrl }: TargetOptions): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-peer-'))
  await cp(join(import.meta.dirname, '../../agent/restate/service.mjs'),
    join(folder, 'service.mjs'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  console.log(`Installing ${packages[0]} …`)
  await promisify(execFile)('npm', ['install', '--silent', ...packages], { cwd: folder })
  const ports: number[] = []
  for (let count = 0; count < 4; count++) ports.push(await firstFreePort())
  const [servicePort, ingressPort, adminPort, nodePort] = ports
  const startService = () =>
    spawn(process.execPath, ['service.mjs'], { cwd: folder, stdio: 'ignore',
      env: { ...process.env, RECEIVER: receiverUrl, PORT: String(servicePort) } })
  const startServer = async () => {
    const server = spawn(program, ['--base-dir', join(folder, 'data'), '--listen-mode', 'tcp',
      '--node-name', 'verify'], { cwd: folder, stdio: 'ignore', env: {
        ...process.env,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
        RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
      } })
    await waitForUrl(`http://127.0.0.1:${adminPort}/health`)
    return server
  }
  let service = startService()
  let server = await startServer()
  await register(`http://127.0.0.1:${adminPort}`, `http://127.0.0.1:${servicePort}`)
  const ingressUrl = `http://127.0.0.1:${ingressPort}`
  const door = await startDoor(ingressUrl)
  return {
    name: 'restate',
    urls: [door.url],
    loadMs: 30_000,
    faults: {
      'kill the server': async () => {
        await killProcess(server)
        server = await startServer()
        await waitForUrl(`${ingressUrl}/restate/health`)
      },
      'kill the service': async () => {
        await killProcess(service)
        service = startService()
      },
    },
    missing,
    async close() {
      await door.close()
      await Promise.all([killProcess(server), killProcess(service)])
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function register(adminUrl: string, serviceUrl: string): Promise<void> {
  await until(startMs, 'the registration of the service', async () => {
    const response = await fetch(`${adminUrl}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: serviceUrl }),
    })
    return response.ok || undefined
  })
}
