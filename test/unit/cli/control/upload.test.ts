/** Connections that are cut while a project is deployed: nothing is lost or done twice. */

import { expect, it } from 'vitest'

import { runDeployCommand } from '../../../../src/cli/deploy/deploy-command.ts'
import { runRollbackCommand } from '../../../../src/cli/control/rollback-command.ts'
import { Refusal, startControlServer } from '../../../support/control-server.ts'
import type { ControlServer, Cut } from '../../../support/control-server.ts'
import { runIn } from '../../../support/project-command.ts'
import { isNight } from '../../../support/repeats.ts'
import { smallProject } from './small-project.ts'

/** Packages enough for more chunks than are uploaded at once. */
const packages = ['a', 'b', 'c', 'd', 'e', 'f']
const chunkCount = packages.length + 2

async function scene() {
  const control = await startControlServer()
  const folder = await smallProject({
    'package.json': JSON.stringify({ name: 'shop',
      dependencies: { '@langchain/langgraph': '1.0.0',
        ...Object.fromEntries(packages.map((name) => [name, '1.0.0'])) } }),
    ...Object.fromEntries(packages.flatMap((name) => [
      [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0' })],
      [`node_modules/${name}/index.js`, `module.exports = '${name}'`],
    ])),
  })
  return { control,
    deploy: () =>
      runIn({ folder, environment: { HEDDLE_URL: control.url } }, runDeployCommand, 'shop',
        '--no-watch') }
}

/** Cuts the n-th call whose name has an ending, and only that. */
function cutOnce(control: ControlServer, isIt: (call: string) => boolean, at: number,
  how: Cut): void {
  let count = 0
  control.cut = (call) => isIt(call) && count++ === at ? how : undefined
}

const isChunk = (call: string) => call.startsWith('PUT') && call.includes('/chunks/')
const puts = ({ calls }: ControlServer) => calls.filter(isChunk)

/** By day the first, one in the middle and the last. */
const stops = isNight ? Array.from({ length: chunkCount }, (_, index) => index) : [0, 4, 7]

it.each(stops)(
  'An upload that stops at chunk %i is resumed by the same command.',
  async (at) => {
    const { control, deploy } = await scene()
    let count = 0
    control.before = (call) => {
      if (isChunk(call) && count++ === at) throw new Refusal(429, 'full', 'No room just now.')
    }
    expect(await deploy()).toMatchObject({ status: 1, stderr: 'No room just now.' })
    const there = control.chunks.size
    expect(there).toBeLessThan(chunkCount)
    control.before = () => {}
    const before = puts(control).length
    expect((await deploy()).stdout).toContain(`upload     ${chunkCount - there} of ${chunkCount} `)
    expect(puts(control).length - before).toBe(chunkCount - there)
    expect(control.deployments.get('shop')).toMatchObject({ active: 'r1' })
    expect(control.revisions.get('shop')).toHaveLength(1)
  },
)

it.each([0, chunkCount - 1])('A chunk whose connection is cut is sent again: chunk %i.',
  async (at) => {
    const { control, deploy } = await scene()
    cutOnce(control, isChunk, at, 'after')
    expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
    expect(puts(control)).toHaveLength(chunkCount + 1)
  })

it.each(['before', 'after'] as const)(
  'A manifest whose connection is cut %s it is read is sent again, as one revision.',
  async (how) => {
    const { control, deploy } = await scene()
    cutOnce(control, (call) => call.endsWith('/revisions'), 0, how)
    expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
    expect(control.revisions.get('shop')).toHaveLength(1)
  },
)

it('A check whose connection is cut is asked for again.', async () => {
  const { control, deploy } = await scene()
  cutOnce(control, (call) => call.endsWith('/check'), 0, 'after')
  expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
  expect(control.calls.filter((call) => call.endsWith('/check'))).toHaveLength(2)
})

it('An activation whose answer is lost is found, and not asked for again.', async () => {
  const { control, deploy } = await scene()
  cutOnce(control, (call) => call.endsWith('/activate'), 0, 'after')
  expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
  expect(control.calls.filter((call) => call.endsWith('/activate'))).toHaveLength(1)
  expect(control.deployments.get('shop')).toMatchObject({ active: 'r1' })
})

it('An activation that nobody read says so.', async () => {
  const { control, deploy } = await scene()
  cutOnce(control, (call) => call.endsWith('/activate'), 0, 'before')
  expect(await deploy()).toMatchObject({ status: 1,
    stderr: expect.stringMatching(/^The connection to http:.* ended before the answer \(/) })
  expect(control.deployments.get('shop')).toMatchObject({ active: null })
})

it('A rollback whose answer is lost is not asked for again.', async () => {
  const control = await startControlServer()
  control.add('shop', { active: 'r2', previous: 'r1' })
  cutOnce(control, (call) => call.endsWith('/rollback'), 0, 'after')
  const { status, stderr } = await runIn({ folder: '.', environment: { HEDDLE_URL: control.url } },
    runRollbackCommand, 'shop')
  expect([status, stderr]).toEqual([1, expect.stringContaining('It may have been done: see ' +
    '"heddle deployments show shop" before you repeat it.')])
  expect(control.calls).toEqual(['POST /deployments/shop/rollback'])
})

it('A look at the roll-out whose connection is cut is repeated.', async () => {
  const { control, deploy } = await scene()
  cutOnce(control, (call) => call === 'GET /deployments/shop', 2, 'after')
  expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
})

it('A server that goes away is asked again, and so is a proxy without one.', async () => {
  const { control, deploy } = await scene()
  let [away, lost] = [0, 0]
  control.before = (call) => {
    if (isChunk(call) && away++ === 0) throw new Refusal(503, 'unavailable', 'It is going away.')
    if (call.startsWith('GET') && lost++ === 1) throw new Refusal(502, '', '')
  }
  expect(await deploy()).toMatchObject({ status: 0, stderr: '' })
})
