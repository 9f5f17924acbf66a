import Type from 'typebox'
import { Count, endpoint, Score, Text } from '../contract.js'

const tag = { name: 'ctftime', description: 'The results in the form that CTFtime reads.' }

const Seconds = Type.Integer({ description: 'Seconds since 1970, UTC.' })

const Standing = Type.Object({
  pos: Type.Integer({ minimum: 1, description: 'The place; ties share it.' }),
  team: Text("The author's name."),
  score: Score,
  taskStats: Type.Record(Type.String(), Type.Object({ points: Count, time: Type.Optional(Seconds) }), {
    description: 'What the author solved, by the name of the task.',
  }),
  lastAccept: Type.Optional(Seconds),
})

export const getCtftime = endpoint({
  path: '/ctftime',
  tag,
  summary: 'Read the feed of results that CTFtime polls',
  description:
    'Every ranked author in the order of the ranking. Points are those that a challenge is worth now. Open to all where the operator says so.',
  response: Type.Object({
    tasks: Type.Array(Type.String(), { description: "The challenges' names, by id." }),
    standings: Type.Array(Standing),
  }),
  maxAtOnce: 2,
  errors: ['overloaded', 'http_1_1_required'],
})
