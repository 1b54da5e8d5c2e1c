/** Shows package managers a project without whatever makes them run code or leave its folder. */

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

import { requireRegistrySettings } from './foreign-packages.ts'
import { keptManifest, keptWorkspace, keptYarnSettings } from './kept-settings.ts'
import type { KeptSettings } from './kept-settings.ts'
import { filesNamed } from './project-files.ts'

/** What yarn 2 and later take for .yarnrc.yml, in the folder of a project and in those above. */
export const yarnSettingsName = '.yarnrc.kept.yml'

/** Files that package managers read, of any version. */
const settingsFile = new RegExp(
  `^(${
    ['package\\.json', 'pnpm-workspace\\.yaml', '\\.npmrc', '\\.yarnrc.*', '\\.yarnclean',
      '\\.pnpmfile\\.[cm]?js', '\\.?bunfig\\.toml', '\\.corepack\\.env', '\\.pnp\\..*'].join('|')
  })$`,
  'i',
)

/** What is shown of a file, and under which name. All others are not shown. */
const views: Readonly<
  Record<string, { readonly as: string; readonly keep: (text: string) => KeptSettings }>
> = {
  'package.json': { as: 'package.json', keep: keptManifest },
  'pnpm-workspace.yaml': { as: 'pnpm-workspace.yaml', keep: keptWorkspace },
  '.yarnrc.yml': { as: yarnSettingsName, keep: keptYarnSettings },
}

/** A project, and the folder of its lock file. */
export interface ViewedProject {
  readonly root: string
  readonly place: string
  /** Where its files are meanwhile. */
  readonly aside: string
}

/**
 * Does some work while only that is shown. All files are as they were afterwards, unless it fails.
 * Throws RevisionError for settings that name packages from elsewhere.
 */
export async function withInstallerView<Result>({ root, place, aside }: ViewedProject,
  work: () => Promise<Result>): Promise<Result> {
  const files = await filesNamed(root, settingsFile)
  const added: string[] = []
  await mkdir(aside, { recursive: true })
  for (const [index, file] of files.entries()) {
    const view = views[basename(file)]
    const isRead = dirname(file) === place
    const kept = view && await keptOf(file, view.keep, isRead)
    if (kept && isRead) requireRegistrySettings(kept, relative(root, place), basename(file))
    await rename(file, join(aside, String(index)))
    if (kept) {
      const shown = join(dirname(file), view.as)
      await writeFile(shown, JSON.stringify(kept))
      added.push(shown)
    }
  }
  const result = await work()
  for (const file of added) await rm(file, { force: true })
  for (const [index, file] of files.entries()) await rename(join(aside, String(index)), file)
  return result
}

/** Further down there may be what only tests of the project read: undefined for what is wrong. */
async function keptOf(file: string, keep: (text: string) => KeptSettings,
  isRead: boolean): Promise<KeptSettings | undefined> {
  try {
    return keep(await readFile(file, 'utf8'))
  } catch (error) {
    if (isRead) throw error
    return undefined
  }
}
