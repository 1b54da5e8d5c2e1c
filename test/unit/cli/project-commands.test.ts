/** The commands of developers: making a project, and what building one refuses. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { runBuildCommand } from '../../../src/cli/build-command.ts'
import { runNewCommand } from '../../../src/cli/new-command.ts'
import { readProject } from '../../../src/graph/index.ts'
import { inTemporaryFolder } from '../../../src/revision/index.ts'
import { heddle, heddleIn } from '../../support/command.ts'
import { runIn } from '../../support/project-command.ts'
import { smallProject } from './control/small-project.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-new-'))
afterAll(() => rmSync(root, { recursive: true }))

const makeNew = (...args: readonly string[]) => runIn(root, runNewCommand, ...args)
const build = (...args: readonly string[]) => runIn(root, runBuildCommand, ...args)

describe('the command "new"', () => {
  it('makes a project, says what to type next, and overwrites nothing', async () => {
    const folder = join(root, 'My Shop')
    const { status, stdout, stderr } = await makeNew(folder)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/has a project\. Now type:\n\n {2}cd 'My Shop'\n {2}npm install\n/)
    expect(stdout).toMatch(
      /\n {2}heddle dev\n\n.*\n\n {2}heddle deploy\n\n.*\n\n {2}npm install --global \.\n$/,
    )
    const { graphs, warnings } = await readProject(folder)
    expect([graphs.map(({ graphId }) => graphId), warnings]).toEqual([['agent', 'desk'], []])
    expect(readText(folder, 'package.json')).toMatch(/"name": "my-shop"/)
    // It can be installed on any machine.
    expect(readText(folder, 'package.json')).not.toMatch(/heddle|file:|link:/i)
    expect(readText(folder, 'README.md')).toMatch(/\nheddle dev\n/)
    expect(readText(folder, 'README.md')).not.toMatch(/npm start/)
    expect(await makeNew(folder)).toMatchObject({ status: 1,
      stderr: expect.stringMatching(/My Shop is not empty: name a new folder\.$/) })
  })

  it('makes one with the agent alone', async () => {
    const folder = join(root, 'agent')
    expect(await makeNew(folder, '--template', 'agent', '--json')).toMatchObject({ status: 0,
      stdout: `${JSON.stringify({ folder, template: 'agent' })}\n` })
    expect((await readProject(folder)).graphs.map(({ graphId }) => graphId)).toEqual(['agent'])
    expect(readdirSync(join(folder, 'src'))).toEqual(['agent.ts', 'local-model.ts', 'model.ts'])
    expect(readText(folder, 'README.md')).not.toMatch(/desk|research/)
  })
})

const readText = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')

describe('the command "build"', () => {
  it.each([
    [['--platform', 'sparc'], /--platform must be like linux-x64-glibc, not "sparc"/],
    [['here', '--config', 'there'], /Name the folder or --config, not both/],
    [['--outt', 'x'], /unknown option '--outt'.*; see build --help/],
    [['one', 'two'], /too many arguments/],
  ])('answers %j with a sentence and exit code 2', async (args, message) => {
    const { status, stdout, stderr } = await build(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })

  it('answers a project without a lock file with what to type, and with exit code 3', async () => {
    const folder = join(root, 'unlocked')
    await makeNew(folder)
    const { status, stdout, stderr } = await heddle('build', folder, '--json')
    expect([status, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^heddle: .*unlocked has no lock file.*npm install.*\n$/)
  })

  it('names the folder that it cannot write to', async () => {
    const stderr = expect.stringMatching(/^\/sys\/heddle cannot be used \(E[A-Z]+\): check/)
    const built = await build(await smallProject(), '--no-check', '--out', '/sys/heddle')
    expect(built).toMatchObject({ status: 1, stderr })
    expect(await makeNew('/sys/heddle')).toMatchObject({ status: 1, stderr })
  })

  it('names the folder for temporary files if it cannot write there', async () => {
    vi.stubEnv('TMPDIR', '/dev/null')
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(inTemporaryFolder(() => mkdtemp(join(tmpdir(), 'heddle-')))).rejects.toThrow(
      /^\/dev\/null, the folder for temporary files \(TMPDIR\), cannot be used \(ENOTDIR\)/,
    )
  })

  it('warns if graphs cannot be loaded in the folder for temporary files, and fails with --check',
    async () => {
      const folder = await smallProject()
      vi.stubEnv('TMPDIR', '/dev/null')
      onTestFinished(() => void vi.unstubAllEnvs())
      const fault = 'The graphs cannot be loaded: /dev/null, the folder for temporary files'
      const built = await build(folder)
      expect(built).toMatchObject({ status: 0, stdout: expect.stringContaining('revision') })
      expect(built.stderr).toContain(fault)
      expect(built.stderr).toContain('The revision was built in spite of it. --check fails')
      expect(await build(folder, '--check')).toMatchObject({ status: 1, stdout: '',
        stderr: expect.stringMatching(/^\/dev\/null, the folder for temporary files/) })
    })

  it('writes into no folder that has something', async () => {
    const folder = mkdtempSync(join(root, 'full-'))
    writeFileSync(join(folder, 'file'), '')
    expect(await build('--out', folder)).toMatchObject({ status: 1,
      stderr: expect.stringMatching(/is not empty/) })
  })
})

it('The command "dev" serves the project where it is called, if there is one.', async () => {
  const folder = mkdtempSync(join(root, 'dev-'))
  writeFileSync(join(folder, 'langgraph.json'), '{')
  const calledIn = { INIT_CWD: folder, npm_lifecycle_event: 'heddle' }
  const { status, stderr } = await heddleIn(calledIn, 'dev')
  expect(status).toBe(1)
  expect(stderr).toContain(`${folder}/langgraph.json is not JSON`)
})

it('The word "dev" before the options of serving changes nothing.', async () => {
  const [{ stderr }, dev] = [await heddle('--port', 'x'), await heddle('dev', '--port', 'x')]
  expect(dev).toMatchObject({ status: 2, stderr })
})
