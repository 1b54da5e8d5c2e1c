/** The command `heddle deploy` against a control API that does what the test says. */

import { appendFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { runDeployCommand } from '../../../../src/cli/deploy/deploy-command.ts'
import { buildRevision, platformHere } from '../../../../src/revision/index.ts'
import { systemEnv } from '../../../../cluster/index.ts'
import { controlClient } from '../../../../src/cli/control/control-client.ts'
import { confirmServer } from '../../../../src/cli/deploy/found-server.ts'
import { Refusal, startControlServer } from '../../../support/control-server.ts'
import type { ControlServer } from '../../../support/control-server.ts'
import { runIn } from '../../../support/project-command.ts'
import type { CommandPlace } from '../../../support/project-command.ts'
import { smallProject } from './small-project.ts'

interface Scene {
  readonly control: ControlServer
  readonly folder: string
  deploy(...args: readonly string[]): ReturnType<typeof runIn>
}

async function scene(more: Parameters<typeof smallProject>[0] = {},
  place: Partial<CommandPlace> = {}): Promise<Scene> {
  const [control, folder] = [await startControlServer(), await smallProject(more)]
  return { control, folder,
    deploy: (...args) =>
      runIn({ folder, environment: { HEDDLE_URL: control.url }, ...place }, runDeployCommand,
        ...args) }
}

const change = (folder: string, text: string) =>
  writeFile(join(folder, 'agent.ts'), `import '@langchain/langgraph'\nexport const graph = ${text}`)

const linesOf = (stdout: string) =>
  stdout.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a deployment', () => {
  it('is made, uploaded, checked, loaded, activated and watched', async () => {
    const { control, deploy } = await scene()
    const { status, stdout, stderr } = await deploy('--message', 'First')
    expect([status, stderr]).toEqual([0, ''])
    const figure = String.raw` +\d+\.\d s\n`
    expect(stdout).toMatch(new RegExp(
      `^build {6}1 package, 4 own files${figure}` +
        `upload {5}2 of 2 chunks, 1 KB${figure}check {6}agent: 2 nodes${figure}` +
        `ready {6}3 of 3 members${figure}active {5}r1 {2}${control.url}/d/shop-app${figure}` +
        `watching {3}no more errors than before${figure}$`,
    ))
    for (const line of stdout.trim().split('\n')) expect(line).toHaveLength(77)
    expect(control.deployments.get('shop-app')).toMatchObject({ active: 'r1', rollout: null })
    expect(control.revisions.get('shop-app')).toMatchObject([{ message: 'First' }])
    const activated = control.seen.find(({ call }) => call.endsWith('/activate'))
    expect(activated).toMatchObject({ headers: { prefer: 'respond-async' },
      body: { prepare_s: 300 } })
  })

  it('sends only what changed, and expects the revision that it was compared with', async () => {
    const { control, folder, deploy } = await scene()
    await deploy('shop')
    await change(folder, '2')
    const before = control.seen.length
    const { status, stdout } = await deploy('shop')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/upload {5}1 of 2 chunks, 1 KB/)])
    const sent = control.seen.slice(before)
    expect(sent.filter(({ call }) => call.startsWith('PUT'))).toHaveLength(1)
    expect(sent.find(({ call }) => call.endsWith('/activate'))?.body)
      .toMatchObject({ expect: 'r1' })
    expect(control.deployments.get('shop')).toMatchObject({ active: 'r2', previous: 'r1' })
  })

  it('sends packages that were packed before to a cluster that lacks them', async () => {
    const { control, folder, deploy } = await scene()
    await buildRevision({ config: folder, platform: platformHere(), keep: async () => {},
      index: { nowMs: Infinity, isRead: false } })
    const { status, stdout } = await deploy('shop')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/upload {5}2 of 2 chunks, 1 KB/)])
    await change(folder, '2')
    expect((await deploy('shop')).stdout).toMatch(/upload {5}1 of 2 chunks, 1 KB/)
    expect((await deploy('shop', '--repack')).stdout).toMatch(/\nunchanged {2}r2 is active/)
    expect(control.deployments.get('shop')).toMatchObject({ active: 'r2', previous: 'r1' })
  })

  it('names the file that changed while it was packed', async () => {
    const { control, folder, deploy } = await scene()
    await buildRevision({ config: folder, platform: platformHere(), keep: async () => {},
      index: { nowMs: Infinity, isRead: false } })
    control.before = (call) => {
      if (call.endsWith('/revisions')) appendFileSync(join(folder, 'agent.ts'), '\n')
    }
    expect(await deploy('shop')).toMatchObject({ status: 1,
      stderr: 'The project changed while it was built (agent.ts): deploy it again.' })
  })

  it.each(['{', '{"graphs": 5}', '{"graphs": {"agent": "./gone.ts:graph"}}'])(
    'is refused for good with the langgraph.json %s, as nothing can be built of it',
    async (text) => {
      const { control, folder, deploy } = await scene()
      await writeFile(join(folder, 'langgraph.json'), text)
      expect(await deploy('shop')).toMatchObject({ status: 3, stdout: '',
        stderr: expect.stringMatching(/langgraph\.json|gone\.ts/) })
      expect(control.deployments.size).toBe(0)
    },
  )

  it('that is active already changes nothing', async () => {
    const { control, deploy } = await scene()
    await deploy('shop')
    const before = control.calls.length
    const { status, stdout } = await deploy('shop')
    expect([status, stdout]).toEqual([0,
      expect.stringMatching(/\nunchanged {2}r1 is active at http:.*\n$/)])
    expect(control.calls.slice(before)).toEqual(['GET /deployments/shop',
      'POST /deployments/shop/revisions'])
  })

  it('answers in JSON, an object a line, and does not wait for the watch', async () => {
    const { control, deploy } = await scene({}, { isTerminal: true })
    control.staysIn = 'watching'
    control.report = { wants_env_missing: ['OPENAI_API_KEY'] }
    const { status, stdout, stderr } = await deploy('shop', '--json')
    expect([status, stderr]).toEqual([0, ''])
    expect(linesOf(stdout)).toMatchObject([
      { step: 'build', packages: 1, own_files: 4, revision_hash: expect.any(String) },
      { step: 'upload', sent_chunks: 2, chunks: 2 },
      { step: 'check', revision: 'r1', graphs: [{ graph_id: 'agent' }] },
      { missing_secrets: ['OPENAI_API_KEY'] },
      { step: 'ready', members: { length: 3 } },
      { step: 'active' },
      { result: 'active', deployment: 'shop', revision: 'r1', url: `${control.url}/d/shop` },
    ])
    expect(control.deployments.get('shop')?.rollout?.phase).toBe('watching')
  })

  it('says which nodes are gone, who waits there, and which secrets are missing', async () => {
    const { control, deploy } = await scene()
    control.add('shop', { active: 'r11' })
    control.report = { wants_env_missing: ['A', 'B'], graphs_removed: ['desk'],
      channels_removed: [{ graph_id: 'agent', channel: 'notes' }],
      nodes_removed: [{ graph_id: 'agent', node: 'ask', waiting_threads: 3 }, { graph_id: 'agent',
        node: 'research:tell', waiting_threads: 1 }, { graph_id: 'agent', node: 'rest',
        waiting_threads: 0 }] }
    const { stdout } = await deploy('shop')
    expect(stdout).toContain('Removes node "ask" of agent: 3 threads wait there; they will go on ' +
      'with r11\n')
    expect(stdout).toContain(
      '"research:tell" of agent: 1 thread waits there; it will go on with r11\n',
    )
    expect(stdout).toContain('Removes node "rest" of agent\n')
    expect(stdout).toContain('Removes graph "desk"\n')
    expect(stdout).toContain('Removes channel "notes" of agent: ')
    expect(stdout).toMatch(/\nsecrets {4}the deployment lacks A, B: heddle secrets set A B -d shop/)
  })

  it('shows progress to a person', async () => {
    const { stderr } = await (await scene({}, { isTerminal: true })).deploy('shop')
    expect(stderr).toMatch(/\r\u001b\[Kupload {5}1 of 2 chunks, 0\.0 of 0\.0 MB\r/)
    expect(stderr).toMatch(/watching {3}60 s; Ctrl-C leaves it to the cluster\r\u001b\[K$/)
  })

  it('is left to the cluster when it is interrupted', async () => {
    const { control, deploy } = await scene({}, { isTerminal: true, noted: (stderr, interrupt) => {
      if (stderr.includes('Ctrl-C')) interrupt()
    } })
    control.staysIn = 'watching'
    const { status, stdout } = await deploy('shop')
    expect([status, stdout]).toEqual([0, expect.stringContaining('watching   left to the cluster')])
    expect(control.deployments.get('shop')?.rollout?.phase).toBe('watching')
  })

  it('takes a share of new runs', async () => {
    const { control, deploy } = await scene()
    control.add('shop', { active: 'r11' })
    const { stdout } = await deploy('shop', '--percent', '10', '--no-watch')
    expect(stdout).toMatch(/share {6}r1 {2}10 % of new runs; r11 takes the rest +\d/)
    expect(control.deployments.get('shop')).toMatchObject({ active: 'r11',
      next: { revision: 'r1', percent: 10 } })
    // The rest of the way: it is known, and not active yet.
    control.change('shop', { rollout: null })
    expect((await deploy('shop')).stdout).toMatch(/upload {5}0 of 2 .*\n[^]*\nactive {5}r1/)
  })

  it('of the active revision ends the share of another one', async () => {
    const { control, deploy } = await scene()
    await deploy('shop')
    control.addRevision('shop')
    control.change('shop', { next: { revision: 'r2', percent: 10 } })
    expect((await deploy('shop')).stdout).toMatch(/\nactive {5}r1 {2}http/)
    expect(control.deployments.get('shop')).toMatchObject({ active: 'r1', next: null })
  })

  it('moves runs under way, also if the revision is active already', async () => {
    const { control, deploy } = await scene()
    await deploy('shop')
    expect(control.seen.find(({ call }) => call.endsWith('/activate'))?.body)
      .not.toHaveProperty('now')
    expect((await deploy('shop', '--now')).stdout).toMatch(/\nactive {5}r1 {2}http/)
    expect(control.seen.findLast(({ call }) => call.endsWith('/activate'))?.body)
      .toMatchObject({ now: true })
  })

  it('is kept, or only checked', async () => {
    const { control, deploy } = await scene()
    expect(await deploy('shop', '--check-only')).toMatchObject({ status: 3,
      stderr: 'There is no deployment shop.' })
    control.add('shop')
    expect(await deploy('shop', '--check-only')).toMatchObject({ status: 0,
      stdout: expect.stringMatching(/check {6}agent: 2 nodes.*\nchecked {4}nothing is kept\n$/) })
    expect(control.revisions.get('shop')).toMatchObject([{ state: 'removed' }])
    expect((await deploy('shop', '--no-activate')).stdout)
      .toMatch(/\nready {6}r2: heddle revisions activate r2 -d shop\n$/)
    expect(control.calls.some((call) => call.endsWith('activate'))).toBe(false)
    // One that was there before is not removed by a check.
    await deploy('shop', '--check-only')
    expect(control.revisions.get('shop')?.[1]).toMatchObject({ state: 'ready' })
  })

  it('is a preview with its own name and time', async () => {
    const { control, deploy } = await scene()
    await deploy('shop', '--preview', 'pr-7', '--ttl', '2h')
    expect(control.deployments.get('shop--pr-7')).toMatchObject({ active: 'r1',
      preview: { of: 'shop', label: 'pr-7', ttl_s: 7_200 } })
  })

  it('gets its secrets before it is checked, and rolls out if only they changed', async () => {
    const { control, deploy } = await scene({ 'prod.env': 'A=1\nB="two words"\n' })
    await deploy('shop', '--env-file', 'prod.env')
    const put = 'PUT /deployments/shop/secrets'
    expect(control.calls.indexOf(put)).toBeLessThan(
      control.calls.findIndex((call) => call.endsWith('/check')),
    )
    expect(control.seen.find(({ call }) => call === put)?.body)
      .toEqual({ values: { A: '1', B: 'two words' }, restart: false })
    const again = await deploy('shop', '--env-file', 'prod.env')
    expect(again.stdout).toMatch(/\nactive {5}r1 /)
    expect(control.seen.findLast(({ call }) => call === put)?.body)
      .toMatchObject({ restart: false })
    expect((await deploy('shop')).stdout).toMatch(/\nunchanged/)
    // A share has no secrets of its own: the active revision loads them.
    await deploy('shop', '--env-file', 'prod.env', '--percent', '5')
    expect(control.seen.findLast(({ call }) => call === put)?.body)
      .toMatchObject({ restart: true })
    // A server before sets starts processes anew.
    control.change('shop', { kept_secrets: undefined } as never)
    await deploy('shop', '--env-file', 'prod.env')
    expect(control.seen.findLast(({ call }) => call === put)?.body)
      .toMatchObject({ restart: true })
  })

  it('sets first which share of runs is recorded, if that changes', async () => {
    const { control, folder, deploy } = await scene()
    await deploy('shop', '--record', '10%')
    expect(control.deployments.get('shop')).toMatchObject({ record: '10%', active: 'r1' })
    const changes = () => control.calls.filter((call) => call.startsWith('PATCH'))
    await change(folder, '2')
    await deploy('shop', '--record', '10%')
    await deploy('shop')
    expect(changes()).toEqual([])
    expect((await deploy('shop', '--record', 'project')).stdout).toMatch(/\nunchanged/)
    expect(changes()).toHaveLength(1)
    expect(control.deployments.get('shop')).toMatchObject({ record: null, active: 'r2' })
  })

  it('goes on when the server is started anew meanwhile', async () => {
    const { control, deploy } = await scene()
    let isAway = false
    control.before = (call) => {
      if (!call.endsWith('/check') || isAway) return
      isAway = true
      control.restart(300)
    }
    expect(await deploy('shop')).toMatchObject({ status: 0,
      stdout: expect.stringMatching(/\nactive {5}r1 /) as string })
    expect(isAway).toBe(true)
  })

  it('asks before it takes a server that nobody has named, and only the first time', async () => {
    const control = await startControlServer()
    const folder = await smallProject()
    const target = { url: control.url, key: undefined, hint: '.', isFound: true,
      env: systemEnv({ level: 'silent' }) }
    const access = { client: controlClient(target), env: target.env, name: 'shop' }
    const ask = (place: Partial<CommandPlace>) =>
      runIn({ folder, ...place }, (source) => confirmServer(source, access))
    control.project = 'starter'
    const found = `No server is named. The one at ${control.url} serves the project starter, and ` +
      'has no deployment shop yet'
    expect(await ask({})).toMatchObject({ status: 2,
      stderr: expect.stringContaining(`${found}: add --yes`) as string })
    for (const [typed, status] of [['y', 0], ['', 2], ['no', 2]] as const) {
      const asked = await ask({ isTerminal: true, typed })
      expect([asked.status, asked.stderr.startsWith(`${found}. Deploy there? [y/N] `)])
        .toEqual([status, true])
    }
    control.add('shop')
    expect(await ask({})).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

describe('a deployment that is refused', () => {
  it('by the check names the graphs and ends with exit code 3', async () => {
    const { control, deploy } = await scene()
    control.before = (call) => {
      if (!call.endsWith('/check')) return
      throw new Refusal(422, 'graph_failed', 'The graph could not do this.', { graphs: [
        { graph_id: 'agent', message: 'not today', at: 'agent.ts:2:7' },
      ] })
    }
    const { status, stdout, stderr } = await deploy('shop')
    expect([status, stderr]).toEqual([3,
      'The graph "agent" cannot be loaded: not today (agent.ts:2:7)'])
    expect(stdout).toMatch(/\ncheck {6}r1 is refused/)
    expect(linesOf((await deploy('shop', '--json')).stdout).at(-1)).toMatchObject({ step: 'check',
      refused: true, graphs: [{ graph_id: 'agent' }] })
    expect(control.deployments.get('shop')).toMatchObject({ active: null, rollout: null })
  })

  it.each([
    ['refused', 3, 'r1 cannot be loaded, and r11 stays active: too large'],
    ['failed', 1, 'r1 is not active, and r11 stays: too large'],
    ['rolled_back', 3, 'r1 was active, and r11 is again: too large'],
  ] as const)('by the roll-out that is %s ends with exit code %i',
    async (result, code, message) => {
      const { control, deploy } = await scene()
      control.add('shop', { active: 'r11' })
      control.outcome = { result, reason: 'too large', failures: [] }
      expect(await deploy('shop')).toMatchObject({ status: code, stderr: message })
    })

  it('by the build says what to type', async () => {
    const { control, deploy } = await scene({ 'package-lock.json': '' })
    expect(await deploy('shop')).toMatchObject({ status: 3,
      stderr: expect.stringMatching(/has no lock file.*npm install/) })
    expect(control.calls).toEqual([])
  })

  it('because another roll-out is under way may be repeated: exit code 1', async () => {
    const { control, deploy } = await scene()
    control.before = (call) => {
      if (call.endsWith('/activate')) throw new Refusal(409, 'stale', 'r3 is being rolled out.')
    }
    expect(await deploy('shop')).toMatchObject({ status: 1, stderr: 'r3 is being rolled out.' })
  })

  it.each([
    [['--percent', '0'], /^--percent must be a whole number from 1 to 100, not "0"/],
    [['--percent', '5', '--no-activate'], /^--percent activates/],
    [['--now', '--percent', '5'], /^--now moves all runs/],
    [['--now', '--no-activate'], /^--now moves all runs/],
    [['--check-only', '--env-file', 'x'], /^--env-file changes the deployment/],
    [['--env-file', 'nowhere'], /nowhere cannot be read: ENOENT/],
    [['--check-only', '--record', 'all'], /^--record changes the deployment/],
    [['--record', '101%'], /^--record must be off, all, a share of runs like 10%, or project/],
    [['--ttl', '7d'], /^--ttl is for --preview/],
    [['--preview', 'PR_7'], /^--preview must be letters, digits and "-"/],
    [['--preview', 'a', '--ttl', '7'], /^--ttl must be like 90s, 5m, 2h or 7d, not "7"/],
    [['--timeout', '0m'], /^--timeout must be like/],
    [['--platform', 'sparc'], /^--platform must be like linux-x64-glibc/],
    [['Shop'], /^"Shop" is no name of a deployment/],
    [['shop', '--deployment', 'other'], /^Name the deployment once/],
    [['one', 'two'], /too many arguments.*; see deploy --help/],
  ])('because %j is a mistake ends with exit code 2', async (args, message) => {
    const { control, deploy } = await scene()
    const { status, stdout, stderr } = await deploy(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(control.calls).toEqual([])
  })
})
