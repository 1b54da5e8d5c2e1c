/** The target: a server with an embedded data directory, as a process that can be killed. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { startServer } from '../../test/support/server-process.ts'
import { deployAgent, deployGuarded } from './deployment.ts'
import { openEarlier } from './earlier.ts'
import { makeKeys } from './keys.ts'
import { faultsOf } from './server-faults.ts'
import { buildSlowFsync } from './slow-fsync.ts'
import { mountSmallDisk } from './small-disk.ts'
import type { Target, TargetOptions } from './target.ts'

/** Milliseconds for which a clock is wrong. */
const wrongMs = 1_500
/** Preloaded, it shows the process a clock that a file sets. */
const fakeClock = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** How far a clock jumps, as `libfaketime` reads it. */
const [ahead, back, right] = ['+3600', '-3600', '+0']

type Env = Readonly<Record<string, string>>

export async function startHeddle(options: TargetOptions): Promise<Target> {
  return await startServerTarget('heddle', options, {})
}

/** The same server with a clock that jumps by an hour. Needs the package `libfaketime`. */
export async function startHeddleClock(options: TargetOptions): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-clock-'))
  const file = join(folder, 'offset')
  const setClock = (offset: string) => writeFile(file, offset)
  await setClock(right)
  const target = await startServerTarget('heddle-clock', options, { LD_PRELOAD: fakeClock,
    FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' })
  const jump = async (offset: string, meanwhile: () => Promise<void>) => {
    await setClock(offset)
    await meanwhile()
    await setClock(right)
  }
  return {
    ...target,
    // Rules about crons and times to live compare with a clock that does not jump.
    missing: /^(cron|mortal)\./,
    faults: {
      ...target.faults,
      'clock ahead': () => jump(ahead, () => pause(wrongMs)),
      'clock back': () => jump(back, () => pause(wrongMs)),
      'clock ahead over a kill': () => jump(ahead, target.faults['kill']!),
    },
    close: async () => {
      await target.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function startServerTarget(name: string, { receiverUrl, before }: TargetOptions,
  env: Env): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-verify-'))
  const earlier = before === undefined ? undefined : openEarlier(before)
  const disk = await mountSmallDisk(folder)
  const slowFsync = await buildSlowFsync(folder)
  const server = await startServer({
    project: join(import.meta.dirname, '../agent'),
    env: { RECEIVER: receiverUrl, ...joinEnv(env, slowFsync?.env ?? {}) },
    dataDir: disk?.dataDir,
    args: ['--workers', '2', '--egress-allow', '127.0.0.1', '--auth', 'keys',
      '--quota-delayed-runs', '2'],
  })
  const keys = await makeKeys(server)
  return {
    name,
    urls: [server.url],
    keys,
    deployment: await deployAgent({ url: server.url, key: keys.own, receiverUrl }),
    guarded: await deployGuarded({ url: server.url, key: keys.own, receiverUrl }),
    loadMs: 30_000,
    faults: faultsOf({ server, disk, slowFsync, before: earlier?.home }),
    close: async () => {
      await server.close()
      await disk?.close()
      earlier?.remove()
      await rm(folder, { recursive: true })
    },
  }
}

/** Both environments; libraries of both are preloaded. */
function joinEnv(one: Env, other: Env): Env {
  const libraries = [one, other].flatMap(({ LD_PRELOAD: library }) => library ?? [])
  return { ...one, ...other, ...libraries.length > 0 && { LD_PRELOAD: libraries.join(':') } }
}
