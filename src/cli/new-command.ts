/** The command `heddle new`: makes a folder with a project to begin with. */

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'

import { Command, Option } from 'commander'

import { objectIn, objectOf } from '../json/index.ts'
import { writingTo } from '../revision/index.ts'
import { emptyFolder } from './empty-folder.ts'
import { runProjectCommand } from './project-command.ts'
import type { ProjectCommandSource } from './project-command.ts'

/** Templates, each with its graphs and the files of the starter that it leaves out. */
const templates = {
  starter: { graphs: ['agent', 'desk'], without: [] },
  agent: { graphs: ['agent'], without: ['src/desk.ts', 'src/research.ts'] },
} as const satisfies Record<string, Template>

interface Template {
  readonly graphs: readonly string[]
  readonly without: readonly string[]
}

interface Typed {
  readonly template: keyof typeof templates
  readonly json?: boolean
}

/** Makes a project. Throws CommandError. */
export function runNewCommand(source: ProjectCommandSource): Promise<void> {
  const command = new Command('heddle new')
    .description('Makes a folder with a project that works by itself.')
    .argument('<folder>', 'Where to put it; it must be new or empty.')
    .addOption(new Option('--template <name>', 'starter: a chat agent, and a desk that asks ' +
      'before it publishes. agent: the chat agent alone.')
      .choices(Object.keys(templates)).default('starter'))
    .action((folder: string, typed: Typed) => make(source, folder, typed))
  return runProjectCommand(command, source)
}

async function make(source: ProjectCommandSource, typedFolder: string,
  { template, json }: Typed): Promise<void> {
  const folder = await emptyFolder(source.folder, typedFolder)
  await writingTo(folder, () => copy(dirname(source.starter), folder, templates[template]))
  if (json) return source.print(`${JSON.stringify({ folder, template })}\n`)
  const place = relative(source.folder, folder)
  source.print(`${folder} has a project. Now type:\n\n` +
    `${place === '' ? '' : `  cd ${quoted(place)}\n`}  npm install\n  heddle dev\n\n` +
    'Once a server runs, this deploys it and each change of it:\n\n  heddle deploy\n\n' +
    'If there is no command heddle yet, type this once in a clone of Heddle:\n\n' +
    '  npm install --global .\n')
}

async function copy(starter: string, folder: string, template: Template): Promise<void> {
  const without = new Set(['node_modules', '.heddle', '.env', 'README.md', 'package.json',
    'langgraph.json', 'package-lock.json', ...template.without])
  await mkdir(folder, { recursive: true })
  await cp(starter, folder, { recursive: true,
    filter: (file) => !without.has(relative(starter, file).split(sep).join('/')) })
  const { graphs } = await readJson(join(starter, 'langgraph.json'))
  await writeJson(join(folder, 'langgraph.json'), { graphs: Object.fromEntries(
    Object.entries(objectOf(graphs)).filter(([graphId]) => template.graphs.includes(graphId)),
  ) })
  // Nothing of Heddle is in it: it can be installed wherever its own packages can.
  const about = await readJson(join(starter, 'package.json'))
  await writeJson(join(folder, 'package.json'), { ...about, name: packageName(folder) })
  const readme = await readFile(join(starter, 'README.md'), 'utf8')
  await writeFile(join(folder, 'README.md'), readmeFor(readme, template))
}

/** Package name for a folder, in letters that npm accepts. */
function packageName(folder: string): string {
  return basename(folder).toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '')
    .slice(0, 200) || 'agent'
}

/** The page of the starter, for a project that stands alone. */
function readmeFor(readme: string, { graphs }: Template): string {
  const text = readme.replace(/^Copy the folder, .*?\n\n```\n.*?\n```$/ms,
    'Install it and serve it, and send it to a server that runs:\n\n' +
      '```\nnpm install\nheddle dev\nheddle deploy\n```\n\n' +
      'The command `heddle` is installed once, with `npm install --global .` in a clone of Heddle.')
  if (graphs.includes('desk')) return text
  return text.replace('This one has two graphs:', 'This one has a graph:')
    .replace('the model of both:', 'its model:')
    .replace(/^- `desk`: .*?\n\n/ms, '\n').replace(/^\| `src\/(desk|research)\.ts` .*\n/gm, '')
}

async function readJson(file: string): Promise<Readonly<Record<string, unknown>>> {
  return objectIn(await readFile(file, 'utf8'))
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}

/** A path as a shell reads it as one word. */
function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
