/** A member in a process of its own, for tests that kill it. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { plainValues, protocolVersion, systemEnv } from '../../cluster/index.ts'
import type { Member } from '../../cluster/index.ts'
import { openGrpcServer } from '../../cluster/transport/grpc/server.ts'

interface Sender {
  seen(value: unknown): void
}

/**
 * Starts a member that listens until it is killed. It echoes what it gets, and a `ponder` never
 * ends.
 */
export async function startLoneMember(cluster: string,
  secret: string): Promise<Member & { readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [import.meta.filename, cluster, secret], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(child.stdout, 'data') as [Buffer]
  return { id: 'white', address: printed.toString().trim(), child }
}

async function serve(cluster: string, secret: string): Promise<void> {
  const server = await openGrpcServer({
    env: systemEnv({ level: 'silent' }),
    id: 'white',
    identity: { cluster, version: protocolVersion },
    trust: { secret },
    kinds: [{ name: 'game', wire: { values: plainValues, listeners: {
      sender: (send): Sender => ({ seen: (value) => send(plainValues.encode(value), false) }),
      notify: () => {},
      end: () => {},
    } } }],
    host: '127.0.0.1',
  })
  server.serve({
    ask: (_, command) => command === 'ponder' ? new Promise(() => {}) : Promise.resolve(command),
    follow: async (_, _request, listener) => {
      ;(listener as Sender).seen({ moves: ['e4'] })
      return () => {}
    },
  })
  process.stdout.write(`${server.address}\n`)
}

if (process.argv[1] === import.meta.filename) await serve(process.argv[2]!, process.argv[3]!)
