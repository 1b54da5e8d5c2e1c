/** Datasets in the Studio: made, imported, edited, compared with older versions, deleted. */

import { readFile } from 'node:fs/promises'

import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { pixel, sendDataset, sendFiles } from './support/sent-experiments.ts'
import { projectId, sendSpans, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const stamp = Date.now()

it('a dataset is made, filled, edited in versions, and deleted by its name', async () => {
  const name = `capitals ${stamp}`
  const tab = await browser.open(`${server.url}/studio/datasets?q=${stamp}`)
  const { page } = tab
  await page.getByText('No dataset matches').waitFor()
  await page.getByRole('button', { name: 'New dataset' }).click()
  await page.getByLabel('Name').fill(name)
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Make it' }).click()
  await page.getByText('No examples yet').waitFor()
  const write = async (label: string, text: string) => {
    await page.getByRole('textbox', { name: label, exact: true }).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
  }
  await page.getByRole('button', { name: 'Add example' }).click()
  await write('Inputs', '{"question": 5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/JSON/).first().waitFor()
  await write('Inputs', '{"question": "ما هي العاصمة"}')
  await write('Outputs', '{"answer": "Oslo"}')
  await page.getByLabel('Splits').fill('train, hard')
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  const table = page.getByRole('grid', { name: 'Examples' })
  await table.getByText('Oslo').waitFor()
  await table.getByText('hard').waitFor()
  await table.press('Enter')
  await write('Outputs', '{"answer": "Bergen"}')
  await page.getByRole('button', { name: 'Save' }).click()
  await table.getByText('Bergen').waitFor()

  const compare = page.getByRole('combobox', { name: 'Compare with' })
  await compare.selectOption({ index: 1 })
  await page.getByText('0 examples added, 1 example changed, 0 examples removed.').waitFor()
  await page.getByRole('region', { name: 'Changes' }).getByText('Oslo').waitFor()
  expect(await tab.violations()).toEqual([])
  await page.reload()
  await page.getByText('1 example changed').waitFor()
  await compare.selectOption('')
  await page.getByRole('combobox', { name: 'Version' }).selectOption({ index: 2 })
  await table.getByText('Oslo').waitFor()
  expect(await page.getByRole('button', { name: 'Add example' }).isDisabled()).toBe(true)

  await page.getByRole('button', { name: 'Delete the dataset' }).click()
  const act = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
  expect(await act.isDisabled()).toBe(true)
  await page.getByLabel('Type the name').fill(name)
  await act.click()
  await page.getByRole('heading', { name: 'Datasets', exact: true }).waitFor()
  expect(await page.getByText(name).count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})

it('what fits no schema is refused in the words of the server, and files leave', async () => {
  const { id } = await sendDataset(server.url, `schemas ${stamp}`, [{
    inputs: { question: 'Which?' },
    outputs: { answer: 'This, "so"' },
  }])
  const tab = await browser.open(`${server.url}/studio/datasets/${id}`, {
    expected: /status of 422/,
  })
  const { page } = tab
  await page.getByRole('button', { name: 'Change the dataset' }).click()
  const drawer = page.getByRole('dialog')
  const write = async (label: string, text: string) => {
    await drawer.getByRole('textbox', { name: label, exact: true }).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
  }
  await drawer.getByLabel('Name').fill(`checked ${stamp}`)
  await write('Schema of outputs', '{"type": "object", "required": ["answer"]}')
  await write('Schema of inputs', '[')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.getByRole('alert').filter({ hasText: 'JSON' }).waitFor()
  await write('Schema of inputs', '[]')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.getByText('inputs_schema_definition: a schema is an object.').waitFor()
  expect(await tab.violations()).toEqual([])
  await write('Schema of inputs', '{}')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: `checked ${stamp}` }).waitFor()
  await drawer.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Add example' }).click()
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.getByText(/outputs.answer is /).waitFor()
  await drawer.getByRole('button', { name: 'Cancel' }).click()

  for (const [form, text] of [['CSV', 'Which?,"This, ""so"""'], ['JSON lines',
    '"answer":"This, \\"so\\""']] as const) {
    await page.getByRole('button', { name: 'Download' }).click()
    const saving = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: form }).click()
    const file = await saving
    expect(file.suggestedFilename()).toMatch(form === 'CSV' ? /\.csv$/ : /\.jsonl$/)
    expect(await readFile(await file.path(), 'utf8')).toContain(text)
  }
  await page.getByRole('grid', { name: 'Examples' }).press('Enter')
  await drawer.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No examples yet').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('an example shows its files, and keeps them when it is changed', async () => {
  const { id } = await sendDataset(server.url, `files ${stamp}`, [])
  const example = await sendFiles(server.url, id, {
    'loom.png': new Blob([pixel], { type: 'image/png' }),
    'notes.txt': new Blob(['So it is.'], { type: 'text/plain' }),
  })
  const tab = await browser.open(`${server.url}/studio/datasets/${id}?example=${example}`)
  const { page } = tab
  const drawer = page.getByRole('dialog')
  const picture = drawer.locator('img')
  await expect.poll(() => picture.evaluate((shown) => Reflect.get(shown, 'naturalWidth') as number))
    .toBe(1)
  expect(await tab.violations()).toEqual([])
  const address = await drawer.getByRole('link', { name: 'notes.txt' }).getAttribute('href')
  expect(await (await fetch(address!)).text()).toBe('So it is.')
  await drawer.getByLabel('Splits').fill('pictures')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.waitFor({ state: 'detached' })
  await page.getByRole('grid', { name: 'Examples' }).press('Enter')
  await drawer.getByRole('link', { name: 'notes.txt' }).waitFor()
  await expect.poll(() => drawer.getByLabel('Splits').inputValue()).toBe('pictures')
  expectQuiet(tab)
  await tab.close()
})

it('a file is imported after a look at its first rows', async () => {
  const tab = await browser.open(`${server.url}/studio/datasets`)
  const { page } = tab
  await page.getByRole('button', { name: 'New dataset' }).click()
  const file = page.getByLabel('Import a file')
  const choose = (name: string, text: string) =>
    file.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await choose('a.jsonl', '[1]\n')
  await page.getByText('Line 1 is no JSON object.').waitFor()
  await choose(`rivers ${stamp}.csv`, 'question,answer\n"Which, then?",Rhine\nAnd now?,Elbe\n')
  await page.getByRole('region', { name: 'First rows' }).getByText('Which, then?').waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'answer' }).inputValue()).toBe(
    'output',
  )
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('grid', { name: 'Examples' }).getByText('Elbe').waitFor()
  await page.getByText('2 examples', { exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('ten thousand examples are there at once, at both ends, by day and by night',
  async () => {
    const many = await sendDataset(server.url, `many ${stamp}`,
      Array.from({ length: 10_000 },
        (_, at) => ({ inputs: { question: `number ${at}` },
          outputs: { answer: 'word '.repeat(at % 90) } })))
    const tab = await browser.open(`${server.url}/studio/datasets`)
    const { page } = tab
    await page.getByRole('link', { name: `many ${stamp}` }).waitFor()
    const beganMs = performance.now()
    await page.goto(`${server.url}/studio/datasets/${many.id}`)
    const table = page.getByRole('grid', { name: 'Examples' })
    await table.getByText('number 0', { exact: true }).waitFor()
    console.info(`10,000 examples after ${Math.round(performance.now() - beganMs)} ms`)
    expect(await page.locator('*').count()).toBeLessThan(1_500)
    await table.press('End')
    await table.getByText('number 9999', { exact: true }).waitFor()
    expect(await page.locator('*').count()).toBeLessThan(1_500)
    await page.getByRole('searchbox', { name: 'Filter examples' }).fill('number 4711')
    await page.getByText('1 example', { exact: true }).waitFor()
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await tab.violations()).toEqual([])
      }
    }
    expectQuiet(tab)
    await tab.close()
  })

it('a span of a trace becomes an example', async () => {
  const project = `asked ${stamp}`
  const [root] = supportTrace({ project, beganMs: Date.now() - 1_000, words: 'Hello?' })
  await sendSpans(server.url, [root!])
  const id = await projectId(server.url, project)
  const tab = await browser.open(`${server.url}/studio/traces/${id}/${root!.id}`)
  const { page } = tab
  await page.getByRole('button', { name: 'Add to dataset' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Dataset').selectOption('New dataset …')
  await dialog.getByLabel('Name').fill(`from traces ${stamp}`)
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('link', { name: 'Open the dataset' }).click()
  await page.getByRole('grid', { name: 'Examples' }).getByText('Hello?').first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('say what went wrong, and ask again', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, {
    expected: /status of (503|404)/,
  })
  const { page } = tab
  await page.route('**/api/v1/datasets?*',
    (route) => route.fulfill({ status: 503, json: { detail: 'The store rests.' } }))
  await page.getByRole('link', { name: 'Datasets' }).click()
  await page.getByText('The store rests.').waitFor()
  await page.unroute('**/api/v1/datasets?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('grid', { name: 'Datasets' }).waitFor()
  await page.goto(`${server.url}/studio/datasets/${crypto.randomUUID()}`)
  await page.getByText('There is no such dataset').waitFor()
  expectQuiet(tab)
  await tab.close()
})
