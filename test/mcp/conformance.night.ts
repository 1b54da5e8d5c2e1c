/**
 * The conformance tests of the Model Context Protocol, unmodified, against a server. Each test that
 * fails stands here with its reason, as on docs/operate/agents.md.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { beforeAll, expect, it, onTestFinished } from 'vitest'

import { installPackages } from '../support/installed-packages.ts'
import { useServer } from '../support/server.ts'

const folder = import.meta.dirname
const server = useServer({ project: 'tools' })

beforeAll(() => installPackages(folder, 'the conformance tests of the Model Context Protocol'))

/** Reasons of failures. */
const reasons = {
  content: 'the content of a result is the state as text: no images, sounds or resources',
  offers: 'an assistant is a tool: there are no prompts, resources, completions or logging',
  models: 'a question goes to the user: models and folders of the client are not asked for',
  keys: 'the test names the keys of questions; here they are the ids of the interrupts',
  sessions: 'nothing is kept for a session, so that its id is not forgotten',
  tasks: 'an extension that is not offered',
  tool: 'the tool of the test has a schema that no graph has',
} as const

/** Scenarios that fail, by the beginning of their names. */
const failing: Readonly<Record<string, keyof typeof reasons>> = {
  'tools-call-image': 'content',
  'tools-call-audio': 'content',
  'tools-call-embedded-resource': 'content',
  'tools-call-mixed-content': 'content',
  'tools-call-with-logging': 'offers',
  'tools-call-sampling': 'models',
  'logging-': 'offers',
  'completion-': 'offers',
  'resources-': 'offers',
  'prompts-': 'offers',
  'caching': 'offers',
  'input-required-result-non-tool-request': 'offers',
  'input-required-result-basic-elicitation': 'keys',
  'input-required-result-basic-sampling': 'models',
  'input-required-result-basic-list-roots': 'models',
  'input-required-result-multiple-input-requests': 'models',
  'input-required-result-capability-check': 'models',
  'server-stateless': 'models',
  'server-session-lifecycle': 'sessions',
  'tasks-': 'tasks',
  'json-schema-2020-12': 'tool',
  'http-custom-header-server-validation': 'tool',
}

interface Check {
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
}

/** The oldest revision has no list of what it requires: all that are of it are run. */
const choiceOf = (revision: string) =>
  revision === '2025-06-18'
    ? ['--suite', 'all', '--spec-version', revision]
    : ['--requirements', revision]

/** Scenarios of a revision: those that passed, and those that failed. */
async function scenariosOf(revision: string) {
  const results = await mkdtemp(join(tmpdir(), 'heddle-mcp-'))
  onTestFinished(() => rm(results, { recursive: true, force: true }))
  const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  // It ends with 1 if anything has failed: the reports say what.
  await new Promise((ended) =>
    execFile(process.execPath, [program, 'server', '--url', `${server.url}/mcp`,
      ...choiceOf(revision), '-o', results], { maxBuffer: 64 * 1024 * 1024 }, ended)
  )
  const scenarios = await Promise.all((await readdir(results)).map(async (name) => {
    const text = await readFile(join(results, name, 'checks.json'), 'utf8')
    const checks = JSON.parse(text) as readonly Check[]
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    return { scenario, failed: checks.some(({ status }) => status === 'FAILURE') }
  }))
  const named = (failed: boolean) =>
    scenarios.filter((each) => each.failed === failed).map(({ scenario }) => scenario).toSorted()
  return { passed: named(false), failed: named(true) }
}

it.each([['2026-07-28', 30], ['2025-11-25', 20], ['2025-06-18', 20]])('revision %s',
  async (revision, scenariosMin) => {
    const { passed, failed } = await scenariosOf(revision)
    console.log(`${revision}: ${passed.length} scenarios pass: ${passed.join(', ')}`)
    expect(passed.length + failed.length).toBeGreaterThan(scenariosMin)
    const isKnown = (scenario: string) =>
      Object.keys(failing).some((name) => scenario.startsWith(name))
    expect(failed.filter((scenario) => !isKnown(scenario))).toEqual([])
    // What passes by now needs no reason.
    expect(passed.filter((scenario) => isKnown(scenario) && !scenario.startsWith('tasks-')))
      .toEqual([])
  })
