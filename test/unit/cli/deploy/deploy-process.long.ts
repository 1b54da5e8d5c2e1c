/** The commands of deployments as processes: exit codes, pipes, and Ctrl-C. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

import { expect, it, onTestFinished } from 'vitest'

import { Refusal, startControlServer } from '../../../support/control-server.ts'
import { freshFolder } from '../../revision/trees.ts'
import { smallProject } from '../control/small-project.ts'

const script = resolve(import.meta.dirname, '../../../../scripts/heddle.mjs')

/** Starts the command in a folder, as `npx heddle` does. */
function start(folder: string, url: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [script, ...args], { cwd: folder,
    env: { ...process.env, HEDDLE_URL: url, HEDDLE_API_KEY: '', INIT_CWD: '' } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    .then(([stdout, stderr, [status]]) => ({ stdout, stderr, status: status as number | null }))
  return { child, ended }
}

it('Ctrl-C while it is watched leaves it to the cluster, and is no failure.', async () => {
  const [control, folder] = [await startControlServer(), await smallProject()]
  control.staysIn = 'watching'
  const { child, ended } = start(folder, control.url, 'deploy', 'shop')
  let looks = 0
  control.cut = () => {
    if (control.deployments.get('shop')?.rollout?.phase === 'watching' && ++looks === 2) {
      child.kill('SIGINT')
    }
    return undefined
  }
  expect(await ended).toMatchObject({ status: 0, stderr: '',
    stdout: expect.stringMatching(/\nactive {5}r1 .*\nwatching {3}left to the cluster/) })
  expect(control.deployments.get('shop')?.rollout?.phase).toBe('watching')
})

it('A refusal is on the standard error, a sentence a line, with exit code 3.', async () => {
  const [control, folder] = [await startControlServer(), await smallProject()]
  control.before = (call) => {
    if (!call.endsWith('/check')) return
    throw new Refusal(422, 'graph_failed', 'No.', {
      graphs: ['one', 'two'].map((id) => ({ graph_id: id, message: 'not today', at: null })),
    })
  }
  expect(await start(folder, control.url, 'deploy', 'shop').ended).toMatchObject({ status: 3,
    stderr: 'heddle: The graph "one" cannot be loaded: not today\n' +
      'heddle: The graph "two" cannot be loaded: not today\n' })
})

it('A secret is piped in, from a folder without a project.', async () => {
  const control = await startControlServer()
  control.add('shop')
  const { child, ended } = start(await freshFolder(), control.url, 'secrets', 'set', 'KEY', '-d',
    'shop')
  child.stdin.end('hunter2\n')
  const { status, stdout, stderr } = await ended
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.not.stringContaining('hunter2')])
  expect(control.seen.at(-1)?.body).toEqual({ values: { KEY: 'hunter2' }, restart: true })
})
