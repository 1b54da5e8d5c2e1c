/** The pictures of datasets, experiments, queues and deployments, as in pictures.test.ts. */

import { it } from 'vitest'

import { ask } from '../support/wire.ts'
import { useStarter } from './support/desk.ts'
import { fillShop, rollout, useShop } from './support/shop.ts'
import { sendDataset, sendExperiment } from './support/sent-experiments.ts'
import { isWalked, picture, expectKept } from './support/picture.ts'
import { sendSpans, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const starter = useStarter()
const browser = useBrowser()
const shop = useShop(starter)

it.each(['studio-dataset', 'studio-experiments', 'studio-queue', 'studio-deployment'])(
  '%s is as large as a window, and loads soon',
  expectKept,
)

const looms = [
  ['What is the warp?', 'The threads along the cloth.', 'The threads along the cloth.',
    'The threads that run along the whole cloth.'],
  ['What does a heddle do?', 'It lifts its threads of the warp.', 'It holds a thread.',
    'It lifts its threads of the warp.'],
  ['How does a dobby loom differ from a Jacquard loom?',
    'A dobby lifts shafts, a Jacquard lifts each thread alone.',
    'A dobby lifts shafts, a Jacquard lifts each thread alone.', 'A dobby loom is smaller.'],
  ['Who made punched cards for looms?', 'Basile Bouchon, in 1725.', 'Jacquard, in 1804.',
    'Basile Bouchon, in 1725.'],
  ['What is the shed?', 'The gap that the shuttle flies through.',
    'The gap that the shuttle flies through.', 'The gap that the shuttle flies through.'],
] as const

it.runIf(isWalked)('a dataset, and two experiments side by side', async () => {
  const { id, ids } = await sendDataset(starter.url, 'Questions about looms', looms.map(
    ([question, answer], at) => ({ inputs: { question }, outputs: { answer },
      split: at % 2 === 0 ? 'easy' : 'hard' }),
  ))
  for (const [name, column] of [['small model', 2], ['large model', 3]] as const) {
    await sendExperiment(starter.url, { dataset: id, name, answers: looms.map((row, at) => ({
      example: ids[at]!,
      words: row[column],
      score: row[column] === row[1] ? 1 : 0.4,
    })) })
  }
  const tab = await browser.open(`${starter.url}/studio/datasets/${id}`)
  const { page } = tab
  await page.getByRole('grid', { name: 'Examples' }).getByText('What is the shed?').waitFor()
  await picture(page, 'studio-dataset')
  await page.getByRole('tab', { name: 'Experiments' }).click()
  for (const name of ['small model', 'large model']) {
    await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
  }
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('combobox', { name: 'Show differences' }).selectOption('reference')
  await page.getByText('5 examples, 2 worse').waitFor()
  await page.getByText('Jacquard, in 1804.').or(page.locator('ins')).first().waitFor()
  await picture(page, 'studio-experiments')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isWalked)('a run that is reviewed', async () => {
  const spans = supportTrace({ project: 'support', beganMs: Date.now() - 60_000,
    words: 'My scarf has a loose thread. May I send it back?' })
  await sendSpans(starter.url, spans)
  const root = '/api/v1/annotation-queues'
  const { body } = await ask(starter.url, 'POST', root, { name: 'Answers to look at',
    rubric_instructions: 'Is the answer polite, and does it say what happens next?',
    rubric_items: [{ feedback_key: 'polite', description: '1 is very polite, 0 is rude.' }, {
      feedback_key: 'correct',
    }] })
  const { id } = body as { readonly id: string }
  await ask(starter.url, 'POST', `${root}/${id}/runs`, [spans[0]!.id])
  const tab = await browser.open(`${starter.url}/studio/queues/${id}`, { colours: 'dark' })
  await tab.page.getByRole('heading', { level: 2, name: 'support agent' }).waitFor()
  await tab.page.getByText('1 run left, 0 done').waitFor()
  await picture(tab.page, 'studio-queue')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isWalked)('a roll-out that members follow', async () => {
  const { control } = shop
  fillShop(control)
  control.change('shop', { rollout: rollout('preparing', 'ready', 'ready', 'waiting') }, 'rollout')
  const tab = await browser.open(`${control.url}/studio/deployments/shop`)
  await tab.page.getByText('2 of 3 members loaded it').waitFor()
  await tab.page.getByRole('row', { name: /^r9 Removed/ }).waitFor()
  await picture(tab.page, 'studio-deployment')
  expectQuiet(tab)
  await tab.close()
})
