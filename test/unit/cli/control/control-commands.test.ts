/** The commands that read and change deployments, against a control API of the test. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { runDeploymentsCommand } from '../../../../src/cli/control/deployments-command.ts'
import { runLogsCommand } from '../../../../src/cli/control/logs-command.ts'
import { runRevisionsCommand } from '../../../../src/cli/control/revisions-command.ts'
import { runRollbackCommand } from '../../../../src/cli/control/rollback-command.ts'
import { runDeployCommand } from '../../../../src/cli/deploy/deploy-command.ts'
import { runSecretsCommand } from '../../../../src/cli/secrets-command.ts'
import { Refusal, startControlServer } from '../../../support/control-server.ts'
import type { ControlServer } from '../../../support/control-server.ts'
import { runIn } from '../../../support/project-command.ts'
import type { CommandPlace } from '../../../support/project-command.ts'
import { freshFolder } from '../../revision/trees.ts'

type Run = (...args: readonly string[]) => ReturnType<typeof runIn>

async function scene(command: Parameters<typeof runIn>[1],
  place: Partial<CommandPlace> = {}
): Promise<{ readonly control: ControlServer; readonly folder: string; readonly run: Run }> {
  const [control, folder] = [await startControlServer(), await freshFolder()]
  return { control, folder,
    run: (...args) =>
      runIn({ folder, environment: { HEDDLE_URL: control.url }, ...place }, command, ...args) }
}

const jsonOf = (stdout: string) =>
  stdout.trim().split('\n').map((line) => JSON.parse(line) as unknown)

describe('the help', () => {
  it.each([
    ['deploy', runDeployCommand, []],
    ['rollback', runRollbackCommand, []],
    ['revisions', runRevisionsCommand, ['list', 'show', 'activate', 'remove']],
    ['deployments', runDeploymentsCommand, ['list', 'create', 'show', 'set', 'remove']],
    ['logs', runLogsCommand, []],
    ['secrets', runSecretsCommand, ['list', 'set', 'remove']],
  ] as const)('of %s fits, names the target and lists %j', async (name, command, words) => {
    const all = await runIn('.', command, '--help')
    expect([all.status, all.stdout]).toEqual([0, expect.stringContaining(`heddle ${name}`)])
    for (const word of words) expect(all.stdout).toMatch(new RegExp(`^  ${word} `, 'm'))
    const each = words.map((word) => [word, '--help'])
    for (const args of each.length === 0 ? [['--help']] : each) {
      const { status, stdout } = await runIn('.', command, ...args)
      expect([status, stdout]).toEqual([0,
        expect.stringMatching(/\nWhich deployment:\n[^]*HEDDLE_URL[^]*HEDDLE_API_KEY/)])
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    }
  })
})

describe('the command "rollback"', () => {
  it('says what is active, on how many members, and what goes on', async () => {
    const { control, run } = await scene(runRollbackCommand)
    control.add('shop', { active: 'r12', previous: 'r11' })
    expect(await run('shop')).toEqual({ status: 0, stderr: '',
      stdout: 'active r11 (was r12), 3 of 3 members, 0.3 s; 14 runs go on with r12; ' +
        'with the secrets of now (version 7); A wait for the next deploy\n' })
    expect((await run('shop', '--to', 'r3', '--message', 'Why', '--json')).stdout)
      .toMatch(/^{"active":"r3","previous":"r11".*}\n$/)
    expect(control.seen.at(-1)?.body).toEqual({ to: 'r3', message: 'Why' })
    expect((await run('shop', '--to', 'r11', '--now')).stdout)
      .toMatch(/; 14 runs of r3 move if possible; with the secrets of now/)
    expect(control.seen.at(-1)?.body).toEqual({ to: 'r11', now: true })
  })

  it('passes on why it cannot be', async () => {
    const { control, run } = await scene(runRollbackCommand)
    expect(await run('shop')).toMatchObject({ status: 3, stderr: 'There is no deployment shop.' })
    control.before = () => {
      throw new Refusal(409, 'stale', 'r13 is being rolled out.')
    }
    expect(await run('shop')).toMatchObject({ status: 1, stderr: 'r13 is being rolled out.' })
  })
})

describe('the command "revisions"', () => {
  it('lists them, the newest first, and shows one', async () => {
    const { control, run } = await scene(runRevisionsCommand)
    control.add('shop', { active: 'r2', previous: 'r1', next: { revision: 'r3', percent: 5 } })
    for (const message of ['First', 'Second', 'Third']) control.addRevision('shop', { message })
    control.addRevision('shop', { state: 'refused', reason: 'It spins.', running: null,
      source: { commit: 'a'.repeat(40), branch: 'main', dirty: true }, wants_env: ['KEY'],
      graphs: [{ graph_id: 'agent', nodes: ['ask', 'reply'] }],
      failures: [{ graph_id: 'desk', message: 'not today', at: 'desk.ts:1:7' }] })
    expect((await run('shop')).stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, '|')))
      .toEqual(['|state|made|by|MB|runs|waiting|message', 'r4|refused|2026-11-27 12:00|local|2.0|0',
        'r3|5 % of new runs|2026-11-27 12:00|local|2.0|0|0|Third',
        'r2|active|2026-11-27 12:00|local|2.0|0|0|Second',
        'r1|ready, previous|2026-11-27 12:00|local|2.0|0|0|First', ''])
    expect(jsonOf((await run('list', 'shop', '--json', '--limit', '2')).stdout))
      .toMatchObject([{ name: 'r4' }, { name: 'r3' }])
    const { stdout } = await run('show', 'r4', '-d', 'shop')
    expect(stdout).toMatch(/^revision {2}r4\nstate {5}refused\n/)
    expect(stdout).toContain('commit    aaaaaaaaaaaa of main, with changes\n')
    expect(stdout).toContain('graph     agent: ask, reply\n')
    expect(stdout).toContain('refused   It spins.\n          The graph "desk" cannot be loaded: ' +
      'not today (desk.ts:1:7)\n')
    expect(await run('show', 'r9', '-d', 'shop')).toMatchObject({ status: 3,
      stderr: 'There is no revision r9.' })
  })

  it('activates one, and removes one that is not in use', async () => {
    const { control, run } = await scene(runRevisionsCommand)
    control.add('shop', { active: 'r2' })
    for (const _ of [1, 2, 3]) control.addRevision('shop')
    expect((await run('activate', 'r1', '-d', 'shop', '--percent', '100')).stdout)
      .toMatch(/^active r1 \(was r2\)/)
    expect(control.seen.at(-1)?.body).toEqual({ percent: 100 })
    expect((await run('activate', 'r2', '-d', 'shop', '--now')).status).toBe(0)
    expect(control.seen.at(-1)?.body).toEqual({ now: true })
    await run('activate', 'r1', '-d', 'shop')
    expect(await run('remove', 'r1', '-d', 'shop')).toMatchObject({ status: 3,
      stderr: 'r1 is active.' })
    expect((await run('remove', 'r1', '-d', 'shop', '--force', '--json')).stdout)
      .toBe('{"removed":"r1"}\n')
    expect((await run('remove', 'r3', '-d', 'shop')).stdout).toBe('r3 is removed.\n')
  })
})

describe('the command "deployments"', () => {
  it('lists, makes, shows and changes them', async () => {
    const { control, run } = await scene(runDeploymentsCommand)
    expect((await run()).stdout).toMatch(/^There is no deployment yet/)
    expect((await run('create', 'shop', '--access', 'any', '--host', 'a.example.org')).status)
      .toBe(0)
    expect(control.seen.at(-1)?.body).toEqual({ name: 'shop', access: 'any',
      hosts: ['a.example.org'] })
    expect(await run('create', 'shop')).toMatchObject({ status: 3, stderr: 'It exists already.' })
    expect((await run('set', 'shop', 'memory_mb=1024', 'paused=yes', 'hosts=')).stdout)
      .toMatch(
        /paused {4}yes[^]*limits {4}workers=2 memory_mb=1024 .* body_mb=25 requests=none\n/,
      )
    expect(control.seen.at(-1)).toMatchObject({ call: 'PATCH /deployments/shop',
      body: { limits: { memory_mb: 1_024 }, paused: true, hosts: [] } })
    expect((await run('set', 'workers=3', 'paused=true', '-d', 'shop')).status).toBe(0)
    expect(control.seen.at(-1)).toMatchObject({ body: { limits: { workers: 3 }, paused: true } })
    expect((await run('set', 'shop', 'requests=600/60s', 'body_mb=5')).stdout)
      .toContain(' body_mb=5 requests=600/60s\n')
    expect(control.seen.at(-1)?.body)
      .toEqual({ limits: { requests: { count: 600, interval_s: 60 }, body_mb: 5 } })
    expect((await run('set', 'shop', 'requests=none')).stdout).toContain(' requests=none\n')
    for (const wrong of ['requests=600', 'requests=600/60', 'requests=/60s', 'requests=']) {
      expect(await run('set', 'shop', wrong)).toMatchObject({ status: 2,
        stderr: expect.stringContaining('as 600/60s, or none') as string })
    }
    expect((await run('set', 'shop', 'record=10%')).stdout)
      .toContain('\nrecord    10%, whatever langgraph.json says\n')
    expect((await run('set', 'shop', 'record=project')).stdout).not.toContain('record')
    expect(control.seen.at(-1)?.body).toEqual({ record: null })
    control.change('shop', { active: 'r1',
      last_rollout: { id: '1', kind: 'activate', revision: 'r2', from: 'r1', percent: 100,
        result: 'rolled_back', members: [], by: 'local', reason: 'Half of all runs failed.',
        failures: [], started_at: '', ended_at: '2026-11-27T1' } })
    expect((await run('show', 'shop')).stdout).toMatch(
      /active {4}r1\n[^]*last {6}r2 rolled back at .* by local\n {10}Half of all runs failed\.\n/,
    )
    expect((await run('list')).stdout).toMatch(/\nshop {2}r1 +paused {2}http/)
    expect(jsonOf((await run('--json')).stdout)).toMatchObject([{ name: 'shop' }])
  })

  it('removes one by its name alone, and its data only if that is said', async () => {
    const { control, run } = await scene(runDeploymentsCommand)
    control.add('shop', { active: 'r1' })
    expect(await run('remove')).toMatchObject({ status: 2 })
    expect(await run('remove', 'shop')).toMatchObject({ status: 3,
      stderr: 'shop has an active revision: add data=remove.' })
    expect(await run('remove', 'shop', '--data')).toMatchObject({ status: 2,
      stderr: expect.stringContaining('add --yes') as string })
    expect(control.deployments.size).toBe(1)
    expect((await run('remove', 'shop', '--data', '--yes')).stdout)
      .toBe('shop is being removed.\n')
    expect(control.deployments.size).toBe(0)
  })

  it('asks for the name of one again before it removes its data', async () => {
    for (const typed of ['', 'shop2', 'shop']) {
      const { control, run } = await scene(runDeploymentsCommand, { isTerminal: true, typed })
      control.add('shop', { active: 'r1' })
      const { status, stderr } = await run('remove', 'shop', '--data')
      expect(stderr).toMatch(/^Type shop to remove it with all threads, items and traces: /)
      const removed = typed === 'shop'
      expect([status, control.deployments.size]).toEqual(removed ? [0, 0] : [1, 1])
    }
  })

  it('tells those that cannot serve, and what was only checked', async () => {
    const { control, run } = await scene(runDeploymentsCommand)
    const problem = { member: 'member-one', revision: 'r1', reason: 'TOKEN is missing',
      since: '2026-11-27T12:00:00.000Z', serves_some: false }
    const last = { id: '1', kind: 'check', revision: 'r11', from: 'r1', percent: 100,
      result: 'done', members: [], by: 'local', reason: null, failures: [], started_at: '',
      ended_at: '2026-11-27T1' } as const
    control.add('shop', { active: 'r1', problems: [problem], kept_secrets: ['A'],
      last_rollout: last })
    expect((await run('list')).stdout).toMatch(/\nshop {2}r1 +cannot serve {2}http/)
    const { stdout } = await run('show', 'shop')
    expect(stdout).toContain('active    r1\n          r1 cannot serve on member member-o since ' +
      '2026-11-27 12:00: TOKEN is missing\n')
    expect(stdout).toMatch(/\nlast {6}r11 checked, not activated at /)
    expect(stdout).toMatch(/\nsecrets {3}A from the next roll-out on\n/)
    control.change('shop', { problems: [{ ...problem, serves_some: true }],
      last_rollout: { ...last, kind: 'secrets', result: 'refused', reason: 'no' } })
    expect((await run('list')).stdout).toMatch(/\nshop {2}r1 +cannot serve all graphs {2}http/)
    expect((await run('show', 'shop')).stdout).toMatch(/\nlast {6}secrets for r11 refused at /)
  })

  it('lists previews as such', async () => {
    const { control, run } = await scene(runDeploymentsCommand)
    control.add('shop--fix', { active: 'r1', preview: { of: 'shop', label: 'fix', ttl_s: 60 } })
    expect((await run()).stdout).toMatch(/\nshop--fix {2}r1 +preview of shop {2}http/)
  })

  it.each([
    [['set', 'shop'], /^Say what to set, as memory_mb=1024/],
    [['set', 'shop', 'color=red'], /^"color=red" cannot be set: use workers, memory_mb/],
    [['set', 'shop', 'workers=none'], /^workers must be a whole number/],
    [['set', 'shop', 'paused=maybe'], /^paused must be yes or no, not "maybe"/],
    [['set', 'shop', 'record=10'],
      /^record must be off, all, a share of runs like 10%, or project/],
    [['create'], /^Name the deployment: there is no langgraph\.json in /],
    [['list', '--limit', 'x'], /^--limit must be a whole number from 1 to 1000/],
    [['create', 'a', '--access', 'all'], /; see deployments --help$/],
  ])('answers %j with a sentence and exit code 2', async (args, message) => {
    const { control, run } = await scene(runDeploymentsCommand)
    const { status, stderr } = await run(...args)
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
    expect(control.calls).toEqual([])
  })
})

const line = (second: number, text: string, member = 'member-one') => ({
  at: `2026-11-27T12:00:0${second}.000Z`,
  level: 'info' as const,
  member,
  revision: 'r1',
  text,
  thread_id: null,
  run_id: null,
})

describe('the command "logs"', () => {
  it('prints lines, and asks for what was typed', async () => {
    const { control, run } = await scene(runLogsCommand)
    control.lines = [line(1, 'one'), line(2, 'two')]
    expect(await run('shop')).toEqual({ status: 0, stderr: '',
      stdout: '2026-11-27T12:00:01.000Z r1 member-o info  one\n' +
        '2026-11-27T12:00:02.000Z r1 member-o info  two\n' })
    await run('shop', '--revision', 'r2', '--level', 'warn', '--since', '2026-11-27', '--limit',
      '9', '--build', 'r3')
    expect(control.seen.at(-1)?.query).toEqual({ revision: 'r2', level: 'warn', limit: '9',
      build: 'r3', since: '2026-11-27T00:00:00.000Z' })
    expect(jsonOf((await run('shop', '--json')).stdout)).toMatchObject([{ text: 'one' }, {
      text: 'two',
    }])
    expect(await run('shop', '--since', 'soon')).toMatchObject({ status: 2,
      stderr: expect.stringMatching(/^--since must be a time like/) })
  })

  it('follows, prints each line once when the connection ends, and ends on demand', async () => {
    let end = () => {}
    const control = await startControlServer()
    control.lines = [line(1, 'one'), line(1, 'one', 'member-two')]
    const ended = await runIn({ folder: '.', environment: { HEDDLE_URL: control.url },
      interruptible: (interrupt) => void (end = interrupt) }, (source) => {
      control.cut = (call) => {
        const looks = control.calls.filter((each) => each === call).length
        if (looks === 2) return 'before'
        if (looks === 3) control.lines.push(line(2, 'two'))
        if (looks === 4) end()
        return undefined
      }
      return runLogsCommand(source)
    }, 'shop', '--follow')
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    expect(ended.stdout.match(/\w+$/gm)).toEqual(['one', 'one', 'two'])
    expect(control.seen[1]?.query['since']).toBe('2026-11-27T12:00:01.000Z')
  })

  it('ends with what was followed: with exit code 3 if the deployment was removed', async () => {
    const { control, run } = await scene(runLogsCommand)
    control.lines = [line(1, 'one')]
    expect(await run('shop', '--build', 'r1', '--follow')).toMatchObject({ status: 0, stderr: '' })
    expect(control.calls).toHaveLength(1)
    control.lines.push({ error: 'not_found', message: 'The deployment was removed.' } as never)
    expect(await run('shop', '--follow')).toMatchObject({ status: 3,
      stdout: expect.stringMatching(/ one\n$/), stderr: 'The deployment was removed.' })
  })
})

describe('the command "secrets"', () => {
  it('sets them from the line, from what is typed and from a file, and lists names', async () => {
    const { control, folder, run } = await scene(runSecretsCommand, { isTerminal: true,
      typed: 'hunter2' })
    control.add('shop', { active: 'r1' })
    await writeFile(join(folder, 'prod.env'), 'B=2\nC=3\n')
    const { status, stdout, stderr } = await run('set', 'A=1=1', 'KEY', '--from', 'prod.env', '-d',
      'shop')
    expect([status, stdout, stderr]).toEqual([0,
      'B, C, A, KEY of shop: set; r1 has loaded the change.\n', 'Value of KEY: '])
    expect(control.seen.at(-1)?.body).toEqual({ restart: true,
      values: { A: '1=1', B: '2', C: '3', KEY: 'hunter2' } })
    expect((await run('set', 'A=2', '--no-restart', '-d', 'shop')).stdout)
      .toBe('A of shop: set; kept for the next roll-out.\n')
    const listed = await run('list', 'shop')
    expect(listed.stdout).toMatch(/^name {2}version {2}set *\nB +1 .*\nC +1 .*\nA +2 /)
    expect(listed.stdout).not.toContain('hunter2')
    expect((await run('remove', 'A', 'B', '-d', 'shop', '--json')).stdout)
      .toMatch(/^{"removed":\["A","B"\],"rollout":"roll-out-\d"}\n$/)
    expect([...control.secrets.keys()]).toEqual(['C', 'KEY'])
    // Two names, one version.
    expect(control.seen.at(-1)?.body).toEqual({ restart: true, values: {}, remove: ['A', 'B'] })
  })

  it('says why the code cannot live with them, and ends with exit code 3', async () => {
    const { control, run } = await scene(runSecretsCommand)
    control.add('shop', { active: 'r1' })
    control.before = (call) => {
      if (!call.startsWith('PUT')) return
      throw new Refusal(422, 'graph_failed', 'No such key.', { graphs: [
        { graph_id: 'agent', message: 'No such key.', at: null },
      ] })
    }
    expect(await run('set', 'A=1', '-d', 'shop')).toEqual({ status: 3, stdout: '',
      stderr: 'shop cannot be loaded with this change, and its secrets stay as they were: ' +
        'No such key.\nThe graph "agent" cannot be loaded: No such key.' })
  })

  it.each([
    [['set'], /^Name what to set, as OPENAI_API_KEY, or a file by --from/],
    [['set', 'A', 'B', '-d', 'shop'], /^Only one value can come from a pipe: use --from for A, B/],
    [['set', '--from', 'nowhere', '-d', 'shop'], /nowhere cannot be read: ENOENT/],
    [['remove', '-d', 'shop'], /missing required argument 'NAME'.*; see secrets --help/],
  ])('answers %j with a sentence and exit code 2', async (args, message) => {
    const { control, run } = await scene(runSecretsCommand)
    const { status, stderr } = await run(...args)
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
    expect(control.calls).toEqual([])
  })
})
