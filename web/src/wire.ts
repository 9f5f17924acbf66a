import type { Body, Row } from '@palmares/client'

/** Short names for the response types of the API. */
export type Compte = Body<'/compte'>
export type ApiKey = Body<'/cles_api'>[number]
export type CreatedKey = Body<'/cles_api', 'post'>
export type Ranked = Row<'/classement'>
export type Regles = Body<'/classement/regles'>
export type Histogramme = Body<'/classement/histogramme'>
export type ChallengeItem = Row<'/challenges'>
export type Challenge = Body<'/challenges/{id_challenge}'>
export type Validation = Row<'/challenges/{id_challenge}/validations'>
export type ChallengeProgression = Body<'/challenges/{id_challenge}/progression'>
export type Auteur = Body<'/auteurs/{id_auteur}'>
export type Solved = Auteur['validations'][number]
export type AuteurProgression = Body<'/auteurs/{id_auteur}/progression'>
export type Environnement = Body<'/environnements_virtuels/{id_environnement_virtuel}'>
export type Exploitation = Body<'/exploitation'>
export type Trafic = Exploitation['trafic']
