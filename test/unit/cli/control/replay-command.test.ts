/** The command `heddle replay`, and the gate of `heddle deploy`. */

import { describe, expect, it } from 'vitest'

import { controlClient } from '../../../../src/cli/control/control-client.ts'
import { runReplayCommand } from '../../../../src/cli/control/replay-command.ts'
import { percentIn, replayTexts } from '../../../../src/cli/control/replay-follow.ts'
import type { DeployPlan } from '../../../../src/cli/deploy/deploy-plan.ts'
import { passReplay } from '../../../../src/cli/deploy/replay-gate.ts'
import { StepRows } from '../../../../src/cli/deploy/step-rows.ts'
import type { ControlReplay } from '../../../../src/api/index.ts'
import { startControlServer } from '../../../support/control-server.ts'
import type { ControlServer } from '../../../support/control-server.ts'
import { hurriedEnv } from '../../../support/hurried-env.ts'
import { runIn } from '../../../support/project-command.ts'
import { freshFolder } from '../../revision/trees.ts'

const verdicts = { same: 6, same_result: 1, diverged: 2, fixed: 0, failed: 0, unstable: 1,
  not_replayable: 0 }
const differing: Partial<ControlReplay> = { verdicts, diverged_percent: 100 * 2 / 9,
  groups: [{ key: 'plan', verdict: 'diverged', step: 3, node: 'plan',
    reason: 'Other call: POST https://a', runs: 2 }, { key: 'unstable', verdict: 'unstable',
    step: null, node: null, reason: 'Its calls come out otherwise.', runs: 1 }] }

async function scene(replayed: Partial<ControlReplay> = {}): Promise<{
  readonly control: ControlServer
  readonly run: (...args: readonly string[]) => ReturnType<typeof runIn>
}> {
  const [control, folder] = [await startControlServer(), await freshFolder()]
  control.add('shop', {})
  control.change('shop', { active: 'r1' })
  control.replayed = replayed
  return { control,
    run: (...args) =>
      runIn({ folder, environment: { HEDDLE_URL: control.url } }, runReplayCommand, 'shop',
        ...args) }
}

describe('the command "replay"', () => {
  it('replays on the active revision, and says what differs', async () => {
    const { control, run } = await scene(differing)
    const { status, stdout } = await run('--sample', '10', '--since', '7d')
    expect(status).toBe(0)
    expect(stdout.split('\n').slice(1)).toEqual([
      'same            6',
      'same result     1',
      'diverged        2',
      '                2 at step 3, plan: Other call: POST https://a',
      'unstable        1',
      '                1 Its calls come out otherwise.',
      'tokens          –',
      'cost            –',
      '',
    ])
    expect(control.seen.find(({ call }) => call.startsWith('POST'))?.body).toEqual({
      revision: 'r1',
      sample: 10,
      control: true,
      run_s: 60,
      since_s: 604_800,
    })
  })

  it('prints one line of JSON with the runs', async () => {
    const { run } = await scene()
    const { stdout } = await run('--revision', 'r2', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ done: 2, replay: { revision: 'r2' }, runs: [] })
  })

  it.each([
    ['2%', differing, 3],
    ['23%', differing, 0],
    ['0', {}, 0],
    ['100%', { diverged_percent: null }, 3],
  ])('with --max-diverged %s ends with its exit code', async (most, replayed, code) => {
    const { run } = await scene(replayed)
    expect((await run('--max-diverged', most)).status).toBe(code)
  })

  it('ends with 1 if the replay failed', async () => {
    const { control, run } = await scene()
    control.replayed = { replay: { phase: 'failed', reason: 'No memory is left.' } as never }
    const { status, stderr } = await run()
    expect([status, stderr]).toEqual([1, expect.stringContaining('No memory is left.')])
  })

  it.each([['--sample', '0'], ['--sample', '501'], ['--timeout', '11m'], ['--max-diverged', '101%'],
    ['--since', 'yesterday']])('refuses %s %s', async (option, value) => {
      const { control, run } = await scene()
      expect((await run(option, value)).status).toBe(2)
      expect(control.calls).toEqual([])
    })
})

describe('the gate of "deploy"', () => {
  async function passed(replayed: Partial<ControlReplay>, active: string | null = 'r1') {
    const control = await startControlServer()
    control.add('shop', { active })
    control.replayed = replayed
    const env = hurriedEnv()
    const access = { name: 'shop', env,
      client: controlClient({ url: control.url, key: undefined, hint: '', env }) }
    const source = { print: () => {}, note: () => {}, isTerminal: false } as never
    const plan = { replay: { sample: 20, maxDiverged: 5 } } as DeployPlan
    await passReplay({ source, access, plan }, new StepRows(source, env, true), { name: 'r2' },
      control.deployments.get('shop')!)
    return control
  }

  it('lets a revision pass on which few runs differ, or that is the first', async () => {
    const { seen } = await passed({ diverged_percent: 5 })
    expect(seen[0]).toMatchObject({ call: 'POST /deployments/shop/replays',
      body: { revision: 'r2', sample: 20 } })
    expect((await passed(differing, null)).calls).toEqual([])
  })

  it.each([['22.2 % of the runs', differing], ['No recorded run', { diverged_percent: null }]])(
    'refuses another one with a reason: %s',
    async (reason, replayed) => {
      const refusal = await passed(replayed).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ fault: 'refused',
        message: expect.stringContaining(reason) as string })
    },
  )
})

it('A percentage has at most three digits behind its point.', () => {
  expect(percentIn('--x', '0.5%')).toBe(0.5)
  expect(() => percentIn('--x', '-1')).toThrow('--x must be from 0% to 100%')
})

it.each([
  [false, '1 920 412 → 997', '4.10 USD → 0.0028 USD'],
  [true, '1 920 412 → at least 997', '4.10 USD → at least 0.0028 USD'],
])('Tokens and cost are said before and after (at least: %s).', (isAtLeast, tokens, cost) => {
  const usage = { recorded: { tokens: 1_920_412, cost: 4.1 },
    replayed: { tokens: 997, cost: 0.00284 }, is_at_least: isAtLeast }
  const texts = replayTexts(
    { verdicts, groups: [], usage, replay: { runs: 10, passed: 0 } } as unknown as ControlReplay,
  )
  expect(texts.slice(-2)).toEqual([['tokens', tokens], ['cost', cost]])
})
