"""What may be asked: questions that get a fixed, careful reply instead of training advice.

A route fires on what the asker says about a person or wants to do, not on a topic: "does creatine harm the kidneys" is a
question for the studies, "should I stop my kidney pills" is one for a doctor. The words stand in `WORDS`, what cannot be
said as words in `FORMS`, and a rule of a route names what must be heard together. Every rule is a search for words with
a bounded gap between them, so that the time grows with the length of the question and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from qa_app.pipeline.records import Declined, Outcome
from qa_app.pipeline.text import folded

# --- Words -------------------------------------------------------------------------------------------------------------
# Without apostrophes and hyphens, as `_spoken` leaves them; a star stands for any ending.

WORDS = {
    # who and how it is asked
    "person": """
        i, im, ive, id, my, me, mine, myself, he, hes, she, shes, his, her, him, himself, herself, we, our, someone,
        client, mate, mum, mom, dad, husband, wife, girlfriend, boyfriend, gran, grandad, grandma, grandpa""",
    "myself": "i, im, ive, me, myself",
    "mine": "i, im, ive, my, me, myself, his, her, he, she, mum, mom, dad, mums, dads, wife, husband",
    "group": """
        study, studies, studied, trial, trials, review*, meta, participants, patients, people, adults, athletes,
        survivors, evidence, prevalence, incidence, cohort*, literature, according, mice, rats, members, users, rate,
        rates, risk, women, men, runners""",
    "studied": """
        study, studies, studied, trial, trials, review*, meta, participants, patients, evidence, prevalence, cohort*,
        literature, according, mice, rats, members, adolescents""",
    "physiology": """
        level, levels, response, responses, sensitivity, resistance, concentration*, secretion, signal*, release*,
        raise*, rise*, rising, increase*, boost*, decline*, produce*, affect*, blunt*, impair*, limit*, compare*,
        without steroids, without drugs, without testosterone, without anabolic, do women have, do men have""",
    "urgent": """
        keep, keep going, keep lifting, keep training, keep running, carry on, push through, go on, continue, finish,
        stop, normal, is it ok, is that ok, is this ok, what now, what do i do, what to do, should, more sets, still
        train, ok, train again, safe, train tomorrow, train today, keep on, ignore, skip the gym, another scoop, push
        on, what next, what do we do""",
    "asks": """
        can, could, should, shall, may, is it, is that, safe, ok, okay, allowed, how, when, what, which, where, do i, am
        i, ready, fine, give, does it, need, will, would""",
    "my": "my, his, her",
    "here": "here",
    "general": """
        does, effect, effects, how common, what causes, why do, association, associated, worry about, cause, prone to""",
    "how do i": "how do i, how to, what",
    # the body
    "chest": "chest, chst, cheast, breastbone, sternum, left arm, jaw",
    "joint": """
        knee, knees, kneecap, shoulder, shoulders, elbow, elbows, wrist, wrists, hip, hips, ankle, ankles, ankel, neck,
        spine, lower back, upper back, my back, his back, her back, bad back, back pain, groin, foot, heel, shin, shins,
        tendon, tendons, achilles, ligament, labrum, meniscus, acl, rotator cuff, disc, disk, rib, ribs, collarbone,
        thumb, toe, testicle, abdomen, scar, l 4, l 5, jaw, fingernail, toenail, skull, cheekbone""",
    "muscle": """
        bicep, biceps, tricep, triceps, pec, pecs, quad, quads, calf, calves, hamstring, hamstrings, glute, glutes,
        chest, arm, arms, leg, legs, hand, hands, finger, fingers, forearm, forearms, thigh, abs, stomach, belly, face,
        lat, lats, muscle, trap, traps, adductor""",
    "limb": "leg, legs, foot, feet, toes, arm, arms, hand, hands, finger, fingers, face",
    # emergency
    "alarm pain": """
        pain, pains, painful, ache, aches, aching, hurts, hurt, hurting, tight, tightness, pressure, squeez*, crush*,
        stabb*, heaviness, numb, numbness, tingl*, burning, weight on my, weight on his, weight on her, elephant on,
        band around""",
    "numb": "numb, numbness, paraly*, droop*, went weak, go weak, weak all of a sudden, went dead, limp",
    "breathless": "short of breath, out of breath, shortness of breath, breathless",
    "faint": """
        passed out, pass out, passing out, passes out, faint, faints, fainted, fainting, blacked out, black out,
        blacking out, blackout*, collapsed, collapses, unconscious, lost consciousness, lose consciousness,
        unresponsive, seizure, seizures, convulsi*, woke up on the ground, woke up on the floor, keeled over, found on
        the floor""",
    "palpitations": "palpitation*, arrhythmia, irregular heartbeat",
    "blood coming": """
        coughing up blood, cough up blood, coughed up blood, coughing blood, vomiting blood, throwing up blood, threw up
        blood, spitting blood, vomited blood, blood in my stool, blood in my urine, blood in my pee, bloody stool,
        pissing blood, peeing blood""",
    "stroke signs": """
        slurr*, thunderclap, worst headache, face drooping, face is drooping, double vision, cant see out of, lost
        vision, lost my vision, went blind, lost sight, sudden headache, sudden severe headache""",
    "self harm": """
        kill myself, killing myself, killin myself, end my life, ending my life, end my own life, end it all, ending it all, unalive
        myself, hurt myself on purpose, hurting myself on purpose, self harm*, dont want to live, dont wanna live, doesnt want to live, do
        not want to live, better off dead, rather be dead, no reason to live, no reason to be alive, suicide note, goodbye letter,
        goodbye letters, goodbye note, lost the will to live, no will to live, im suicidal, i am suicidal, feel suicidal, feeling
        suicidal, been suicidal, starve myself to death, starve yourself to death, offing myself, kill himself, kills himself,
        killed himself, killing himself, kill herself, kills herself, killed herself, killing herself, kill themselves, killing
        themselves, sewerslide""",
    "urine": "pee, peeing, piss, urine, wee",
    "dark": "brown, dark, cola, coke, coca, tea, black, red, blood, bloody, rust*",
    "sweating": "sweating, cold sweat, clammy, pale",
    "foamy": "foamy, frothy, foam",
    "unwell": "dizzy, dizziness, lightheaded, light headed, vertigo, numb, numbness, tingling, pins and needles",
    "bladder": """
        pee, urinate, bladder, bowel, bowels, wee, when i need to go, if i need to go, whether i need to go, that i need to go, need to go to
        the loo, need to go to the bathroom, the toilet, control of my legs""",
    "alarming": """
        swollen, bruised, bleeding, blood in, faint*, collapsed, vomiting, vomited, fractured, broken bone, ruptured,
        dislocated, lump, paralysed, paralyzed, fever, infected, cant move my, cant move his, cant move her, cant move it, cannot move my, cannot move his,
        cannot move her, cannot move it, cant walk, cannot walk, cant
        stand up, went to hospital, ambulance, emergency room, sudden pain, severe pain, unbearable, excruciating, sharp
        pain, stabbing pain, shooting pain, yellow eyes, yellow skin, jaundice, blue lips, lips are blue, rash,
        discharge, pus""",
    "harmless tingle": "beta alanine, bfr, blood flow restriction",
    "lost": "cant, cannot, can not, couldnt, lost, losing, no, unable",
    "wet": "wet myself, peed myself, pissed myself, soiled myself, wet himself, wet herself",
    "confused": "confused, confusion, disoriented",
    "heat": """
        stopped sweating, not sweating, heat stroke, heatstroke, burning hot, throwing up, vomiting, collapsed, fainted,
        delirious""",
    "poisoned": """
        overdos*, anaphyla*, having a heart attack, having a stroke, heart attack symptoms, throat closing, throat is
        closing""",
    "suicidal": "suicidal, suicide, suicidal thoughts, sucide, sucidal, suicdal, suicde, suiside, suisidal",
    # eating
    "disorder": """
        anorexi*, bulimi*, orthorexi*, eating disorder, eating disorders, disordered eating, binge eating disorder,
        thinspo*, pro ana""",
    "purging": """
        purge, purging, purged, make myself sick, making myself sick, made myself sick, make myself throw up, make
        myself vomit, making myself throw up, making myself vomit, made myself throw up, force myself to vomit, force
        myself to throw up, chew and spit, chewing and spitting, stick my fingers down, throw up on purpose, vomit on
        purpose, how to vomit, way to vomit, how to throw up, way to throw up, how do i throw up, how do i vomit, vomit
        after, ana tips, mia tips, wannarexic*, pro mia""",
    "laxatives": "laxative, laxatives, water pills, diet pills, ipecac, enema, enemas",
    "binge": "binge, binges, bingeing, binging, binged",
    "undo": "throw*, threw, vomit*, purge, fast, fasting, starve, starving, sick, for days, burn it off, laxative*",
    "weight loss": "weight, lose, losing, thin, skinny, fat, lean, shred*, cut, cutting, slim*, quick",
    "not eating": """
        havent eaten, have not eaten, not eaten, hasnt eaten, eat nothing, eating nothing, ate nothing, barely eat,
        barely eats, barely eating, hardly eat, hardly eats, hardly eating, not eating, stopped eating, dont eat at all,
        dont eat anything, skip all meals, skip all my meals, skip every meal, starve myself, starving myself, starve
        till, starve until, want to starve, how to starve, stop eating altogether, stop eating completely, stop eating
        without, stop eating for, quit eating, live on water, only eat an apple, only eat a salad, only drink water, go
        without food, go without eating, survive without food, skip food, skipping food, stop eating food, eat only once
        every""",
    "dread": """
        im terrified of, terrified of gaining, terrified of eating, terrified of food, scared of eating, scared of food,
        scared to eat, scared of gaining weight, afraid to eat, afraid of eating, afraid of food, afraid of gaining
        weight, panic when i eat, panic if i eat, panic after eating, guilty every time i eat, guilty when i eat, guilty
        after eating, guilty for eating, guilty about eating, guilty if i eat, ashamed of eating, ashamed after eating,
        hate my body, disgusted by my body, disgusted with my body, burn off everything i eat, burn everything i eat,
        thigh gap, skin and bones, size zero, without dying, as thin as possible, as skinny as possible, lowest weight i
        can, lowest weight possible, feel huge, look anorexic""",
    "loses": """
        get rid of, stopped, stop, lost, lose, missed, missing, gone, vanished, disappeared, no, havent had, hasnt come,
        not had""",
    "dieting": """
        diet*, eat, eating, calories, kcal, weight, lean*, cut, cutting, train, training, carbs, exercise, exercising,
        running""",
    # minors
    "child": """
        son, daughter, kid, kids, child, children, boy, girl, teen, teens, teenager, teenagers, teenage son, teenage
        daughter, nephew, niece, grandson, granddaughter, grandchild, grandkid, grandkids, little brother, little
        sister, younger brother, younger sister, toddler, stepson, stepdaughter""",
    "youth": """
        teenage, teenager, middle school, middle schooler, high schooler, high school freshman, high school sophomore,
        i go to high school, junior in hs, freshman in hs, sophomore in hs, teen lifter, th grade, th grader,
        year 7 student, year 8 student, year 9 student, year 10 student, year 11 student, toddler,
        my teen, schoolboy, schoolgirl, in high school, preteen""",
    "the young": "teens, teenage, teenager, teenagers, adolescent girl, adolescent girls, adolescent boys, schoolgirls, schoolboys, school kids",
    "eating less": """
        omad, skip meals, skipping meals, skip breakfast, meal plan*, restrict calories, restricting food, restrict food, restricting calories,
        cut weight, cutting weight, make weight, get thin, getting thin, get skinny, weight loss plan*, crash diet*, diet pills, fat burner*,
        lose weight fast, lose weight quickly, water fast*, starve*""",
    "training topic": """
        diet*, lose, losing, loss, weight, weights, kilos, kg, pounds, lbs, slim*, fat, calorie, calories, cal, cut,
        cutting, bulk*, fast, fasting, keto, carb, supplement*, creatine, protein, whey, preworkout, pre workout,
        caffeine, steroid*, sarms, testosterone, max, 1 rm, lift, lifts, lifting, train, trains, training, trained,
        split, routine, workout*,
        program, programme, deadlift*, squat, squats, bench*, gym, growth, growing, abs, muscle*, ripped, mass, six
        pack, strong*, energy drink*, eat, run, running, plan, big, gain*, reps, sets""",
    # drugs
    "doping": """
        trenbolone, tren, anavar, oxandrolone, winstrol, winny, stanozolol, dianabol, dbol, anadrol, oxymetholone,
        halotestin, deca, nandrolone, masteron, primobolan, boldenone, equipoise, turinabol, tbol, sustanon, enanthate,
        cypionate, test e, test c, test p, test prop, sarm, sarms, ostarine, ligandrol, lgd, rad 140, testolone,
        cardarine, gw 501516, mk 677, ibutamoren, yk 11, s 23, clen, clenbuterol, dnp, dinitrophenol, hgh, synthol, bpc
        157, tb 500, cjc 1295, ipamorelin, prohormone*, slin, roids, melanotan, nolvadex, nolva, clomid, tamoxifen,
        arimidex, anastrozole, cytomel, liothyronine, t 3, yohimbine, eca stack, ephedra, dmaa, igf 1 lr 3""",
    "hormone": """
        testosterone, steroid, steroids, anabolics, anabolic steroids, growth hormone, insulin, igf 1, epo,
        erythropoietin, diuretic, diuretics, lasix, furosemide, ephedrine, albuterol, salbutamol, ozempic, semaglutide,
        wegovy, tirzepatide, mounjaro, modafinil, adderall, ritalin, amphetamine, amphetamines, cocaine, gh, trt,
        research peptides, peptide injections, hcg, aromatase inhibitor*, aas, myostatin inhibitor*, performance
        enhancing drugs, peds""",
    "painkiller": """
        ibuprofen, naproxen, aspirin, paracetamol, acetaminophen, tylenol, advil, painkiller, painkillers, tramadol,
        oxycodone, codeine, opioid, opioids, diclofenac, voltarol, nsaid, nsaids, muscle relaxant*, sleeping pills,
        valium""",
    "dosing": """
        dose, doses, dosed, dosage, dosages, dosing, how much, how many, unit, units, mg, mgs, milligram*, mcg, ug, iu,
        ius, cc, ccs, ml, cycle, cycles, cycling, inject, injects, injected, injecting, injection, injections, pin,
        pins, pinning, stack, stacks, stacking, pct, blast, cruise, protocol, microdose, tablets, puffs, schedule, shot,
        shots""",
    "getting": """
        how to use, how do i use, how do i take, how to take, should i take, can i take, should i use, can i use, should
        i start, want to take, want to start, want to use, want to try, thinking of taking, mask, masking, detected, hop
        on, hopping on, where can i buy, where to buy, where do i buy, where do i get, where can i get, how do i get,
        can i get, to buy, buy, order, way to use, way to take, tell me how, i inject, can i inject, should i try,
        should i go on, should i run, can i run, is it safe to take, is it safe to use, safe to inject""",
    "wanting": """
        where, which, best, safest, strongest, recommend*, first, beat, pass, mask, hide, clear, how do bodybuilders,
        good, ok""",
    "taking": "take, taking, use, using, before, get through, pop, safe, max, maximum",
    "cycle": """
        steroid cycle, steroid cycles, test cycle, tren cycle, first cycle, beginner cycle, next cycle, bulking stack
        of, blast and cruise, post cycle, cycling off steroids, gear cycle, on gear, run gear, running gear, hop on
        gear, sarms cycle, oral cycle, after a cycle, after my cycle, pass a drug test, beat a drug test, pass the drug
        test, beat the drug test""",
    # medicines
    "change": """
        stop, stopping, stopped, cut my, quit, quitting, come off, coming off, get off, go off, going off, came off, off
        my, skip, skipping, reduce, reducing, lower, lowering, less, halve, drop, dropping, ditch, ditching, replace,
        replacing, instead, wean, weaning, taper, tapering, swap, swapping, change, changing, adjust, double, doubling,
        mix, mixing, combine, combining, together, interact*, miss, missed, forgot, forget, still need, cut out, cut
        down, throw away, do without, no longer need, increase, up my, leave it out, leave out""",
    "named medicine": """
        metformin, statin, statins, beta blocker, beta blockers, antidepressant, antidepressants, blood thinner, blood
        thinners, warfarin, apixaban, eliquis, xarelto, rivaroxaban, digoxin, lithium, levothyroxine, thyroxine,
        synthroid, gliclazide, glipizide, jardiance, ozempic, semaglutide, wegovy, mounjaro, prednisone, prednisolone,
        methotrexate, inhaler, ventolin, hrt, chemo, chemotherapy, sertraline, zoloft, prozac, fluoxetine, citalopram,
        escitalopram, lexapro, venlafaxine, ssri, ssris, maoi, xanax, ritalin, adderall, vyvanse, adhd meds,
        clopidogrel, plavix, amiodarone, gabapentin, pregabalin, tamoxifen, letrozole, finasteride, accutane,
        isotretinoin, antibiotics, anticoagulant*, anticonvulsant*, antipsychotic*, immunosuppressant*, omeprazole,
        thyroid tablets, thyroid pills, spironolactone, bendroflumethiazide, nitroglycerin, gtn spray, alendronate,
        bisphosphonate*, medication, medications, medicine, medicines, meds, prescription, propranolol""",
    "on it": """
        i take, i am taking, im taking, while taking, taking, im on, i am on, ive been on, is on, takes, prescribed, put
        me on, started me on, on my, with my, i use, i inject, hes on, shes on, been given""",
    "mixes": "mix, mixes, interact*, combine, combined, together, be taken with",
    "prescribed": """
        was prescribed, been prescribed, doctor prescribed, doc prescribed, put me on, my doctor, my doc, my insulin, my
        gp, gave me""",
    # pregnancy
    "pregnancy": """
        pregnan*, trimester, weeks along, months along, im expecting, expecting a baby, expecting twins, postpartum,
        post partum, after birth, after giving birth, gave birth, c section, caesarean, cesarean, gestation*, pre
        eclampsia, preeclampsia, placenta*, cervical insufficiency, short cervix, incompetent cervix, miscarr*, the
        baby, my baby, unborn, prenatal, with twins""",
    "complication": """
        bleed*, spotting, cramp*, contraction*, pain, pains, painful, hurts, hurt, dizz*, faint*, passed out, leak*,
        fluid, eclampsia, preeclampsia, placenta*, complicat*, headache*, blurr*, swelling, swollen, high risk,
        miscarr*, no movement, not moved, hasnt moved, stopped moving, isnt moving, not moving, reduced movement*, less
        movement, kicks, blood pressure, hypertension, diastasis, prolapse*, cerclage, cervix, cervical, stitch,
        gestational diabetes, fell, races, racing, threatened, bed rest, infection, fever, anaemi*, anemi*, breech,
        preterm, premature""",
    "pregnancy complication": """
        placenta*, pre eclampsia, preeclampsia, cervical insufficiency, short cervix, incompetent cervix, gestational
        hypertension, gestational diabetes, postpartum prolapse, bleeding again, high risk pregnancy, baby has not
        moved, no movement from the baby, baby stopped moving, diastasis recti after birth""",
    "alarm in pregnancy": """
        threatened miscarriage, reduced fetal movement*, reduced foetal movement*, reduced movements, baby has not
        moved, baby hasnt moved, no movement from the baby, baby stopped moving""",
    "complication of pregnancy": """
        bleed*, spotting, cramp*, contraction*, strong pelvic pain, leak*, blurr*, swelling, swollen, dizzy, dizziness,
        faint*, previa, headache, headaches, abdominal pain, belly pain, stomach pain""",
    "expecting": """
        im pregnant, i am pregnant, weeks pregnant, months pregnant, my pregnancy, while pregnant, wife is pregnant,
        pregnant wife, pregnant with""",
    # injuries and illnesses
    "injured": """
        torn, tore, tear, tearing, ruptur*, dislocat*, fractured, sprain*, strained, herniated, slipped, pulled,
        tweaked, injured, popped, snapped, broke, broken, rolled, twisted, bulging, pinched, out of place, jammed, out
        of its socket, popped out, came out""",
    "sharp": """
        swollen, swelling, swells, swelled, bruise, bruised, bruising, bulge, bulges, bulging, lump, giving way, gives
        way, give way, gave out, gave way, locked, locks up, sharp pain, shooting, shoots, stabbing, purple, tingling,
        out of place, deformed, cant move, cant straighten, cant lift my arm, cant raise my arm, pops out, goes numb,
        black, went black, blue, dent, crunch""",
    "sore": """
        pain, pains, painful, hurt, hurts, hurting, ache, aches, aching, killing me, clicks, clicking, grinding, sharp
        pain, inflamed, stiff and sore, acting up""",
    "prevent": """
        prevent*, avoid, risk, rates, reduce the, lower the, chance of, protect*, reduce my, lower my, chances, against,
        better for""",
    "illness": """
        hernia, an injury, diabetes, cancer, arthritis, tendonitis, tendinitis, bursitis, sciatica, rhabdo,
        rhabdomyolysis, osteoporosis, sarcopenia, anaemia, anemia, parkinsons, ms, multiple sclerosis, low testosterone,
        concussion, infection, stress fracture, fracture, blood clot, clot, impingement, shin splints, gout, disease,
        syndrome, thyroid problem, lupus, dementia, alzheimers, a deficiency, broken, torn, sprained, tumour, tumor,
        pinched nerve, serious, something worse, infected, dislocated, slipped disc, pulled groin, plantar fasciitis,
        tennis elbow, compartment syndrome, overtraining syndrome, adhd, celiac, coeliac, kidney stones, heart problem,
        heart disease, broken bone""",
    "gym": "record, pr, pb, plateau, volume, body weight, through a plateau, weight",
    "scan": """
        mri, x ray, xray, scan, ultrasound, cortisone, cortisone shot, surgery, stitches, an operation, see a doctor,
        physio, diagnosis""",
    "diagnose": """
        diagnose me, diagnose this, diagnose my, diagnose what, you diagnose, my diagnosis, whats wrong with me, what is
        wrong with me, whats wrong with him, whats wrong with her, does this sound like, my symptoms, what condition do
        i have, what disease do i have, what injury do i have, give me a diagnosis, what did i do to, what have i done
        to, what did i tear, what do i have, heard a pop, felt a pop, hear a pop, feel a pop, heard a snap, felt a snap,
        heard something, felt something pop, felt something snap, felt something tear, felt something rip, felt it pop,
        felt it tear, felt a tear, felt a rip, heard it pop, heard a crack, heard a loud, felt a crack, something
        popped, something snapped, i tore something, i pulled something""",
    # other personal matters
    "serious": """
        surgery, operation, operated, hip replacement, knee replacement, bypass, stent, stents, pacemaker,
        defibrillator, transplant, heart attack, heart failure, heart disease, heart condition, heart murmur, heart
        defect, stroke, tia, aneurysm, arrhythmia, afib, atrial fibrillation, long qt, cardiomyopathy, myocarditis,
        pericarditis, angina, cancer, tumour, tumor, leukaemia, leukemia, lymphoma, chemo, chemotherapy, radiotherapy,
        radiation therapy, epilepsy, seizures, kidney disease, kidney failure, kidney transplant, kidney stones, one
        kidney, ckd, dialysis, cirrhosis, ascites, hepatitis, liver disease, liver failure, blood clot, blood clots,
        dvt, embolism, hernia, inguinal hernia, multiple sclerosis, crohns, colitis, lupus, pneumonia, hospital, hip
        fracture, mets, metasta*, ejection fraction, hiv, tuberculosis, sickle cell, marfan*, ehlers danlos,
        uncontrolled, sepsis, copd, emphysema, detached retina, retinal detachment, brain injury, concussion, ulcer,
        pancreatitis, appendicitis, diverticulitis, gastric sleeve, gastric bypass, glaucoma, myasthenia, als, motor
        neurone disease, schizophrenia, bipolar, preeclampsia, severe osteoporosis, aortic""",
    "has": """
        i have, ive got, i had, ive had, i got, diagnosed, i suffer, i live with, told i have, recovering from, has,
        had, just had, im on, i am on, im a, as a, i was in, out of, doctor says, was told, dad has, mum has""",
    "diagnosed": "diagnosed, recovering from, told i have",
    "ive": "ive",
    "after": "after",
    "with": "with",
    "permission": """
        can, could, should, may, ok, okay, safe, allowed, ready, fine, when, how, am i, which, what, do i, give, give
        me, is hiit, may i, is it""",
    "fever": """
        have covid, got covid, with covid, have a fever, with a fever, fever of, have the flu, with the flu, have a
        chest infection, have mono, have glandular fever""",
    "laboratory": """
        creatinine, egfr, gfr, ck, creatine kinase, hba 1 c, a 1 c, potassium, psa, ferritin, haemoglobin, hemoglobin,
        ejection fraction, ketones, blood sugar, my sugar, blood glucose, tsh, troponin, alt, bilirubin, sodium, inr""",
    "pressure": "blood pressure, bp",
    "high": "high, low, elevated, raised, off the charts",
    "specialist": """
        my surgeon, my oncologist, my cardiologist, my consultant, my nephrologist, my neurologist, my rheumatologist,
        my urologist, my obstetrician, my midwife, his cardiologist, her oncologist""",
}  # fmt: skip

_NUMBER = r"(?:[1-9]|1[0-7]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)"
_TEENS = r"(?:[89]|1[0-7]|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)"
_UNITS = (
    r"(?:kg|kgs|kilos?|lbs?|pounds?|stone|weeks?|wks?|months?|mths?|days?|hours?|hrs?|minutes?|mins?|seconds?|years? (?!old)|percent|per|%|bf|cm|inch\w*|foot|feet|ft|"
    r"sets?|reps?|sessions?|workouts?|g|grams?|miles?|km|kcal|calories|points?|times?|out|of|or|to|\d)"
)
_CALORIES = r"(?:k?cals?|kilocalories|calories|calorie)"
_BRIEF = r"(?:a|one|two|1|2|\d{1,2} days|the next|this)(?: weeks?| days?)?"

_ENDS_THERE = (
    r"(?= [.?!;]|$| (?:any ?more|like this|does|do|can|could|would|will|is|are|if|since|ive|im|now|so|and i)\b)"
)
_LIVING = (
    rf"(?:living(?! (?:on|with|in|like|at|near|alone|room)\b)|life(?! (?:expectancy|long|span|style|stage|in|with|on|of|insurance|time)\b)|being alive|being here|staying alive|"
    rf"(?:going|carrying) on{_ENDS_THERE}|it all{_ENDS_THERE}|existing{_ENDS_THERE})"
)
_KIN = r"(?:wife|husband|son|daughter|mum|mom|dad|partner|mother|father)"
_ALIVE = r"(?:being alive|living|life)\b(?! (?:with|on|in|off|like|at|near|alone|room)\b)"
_NONE = r"(?:no|not any|isnt any|is there any|is there a|is there even a|see (?:the|a|any|no)|whats the|what is the|wheres the|without|lost all|no more)"
_CANNOT = r"(?:cant|cannot|can not|dont want to|do not want to)"
_WANT = r"(?:want|wants|wanted|wanna)"
_DONT_WANT = r"(?:(?:dont|do not|doesnt|does not|didnt) (?:even )?(?:want to|wanna))"
_NOT_DENIED = "".join(
    rf"(?<!\b{word} )"
    for word in ("dont", "doesnt", "not", "never", "didnt", "us", "nobody", "one", "everybody", "everyone", "who")
)
_UNCONDITIONAL = "".join(rf"(?<!\b{word} )" for word in ("until", "till", "when", "if", "because", "where", "after"))

FORMS = {
    "a child's age": rf"{_NUMBER} ?(?:(?:yo|y o|(?:yrs?|years?|y) old)\b|(?:yrs?|years?|y)\b(?! (?:experience|training|lifting)))"
    r"(?! (?:follow|study|trial|data|plan|break|gap|olds|into|of(?! (?:my )?age)|ago|in|later))"
    r"(?! (?:\w+ )?(?:boys|girls|children|adolescents|teenagers|athletes|males|females|students|players|swimmers|kids|men|women)\b)",
    "old": r"(?:old|yo|y o|aged)\b",
    "I am a child": rf"at {_TEENS} (?:can|should|could|may|what|how|do|am) i\b|(?:im|i am|i just turned|just turned|im turning|turning|im only|im almost|i am only|im just) {_TEENS}\b(?! {_UNITS}\b)"
    r"|^1[0-7] (?:and |have )?(?:been|here)\b|(?:^|\blong )1[0-7] (?:now|in (?:january|february|march|april|may|june|july|august|september|october|november|december))\b",
    "told of a group": r"(?:risk|rates?|prevalence|incidence) of (?:\w+ ){1,3}(?:harming|hurting|killing|cutting) themselves is\b",
    "whether the young may lift": r"(?<![a-z] )(?:(?:can|should|may) teenage (?:boys|girls|athletes)|is (?:it|lifting|lifting weights|weight training|strength training|resistance training) "
    r"(?:safe|good|bad|ok|okay) for teenage (?:boys|girls|athletes)(?: to)?) ?(?:lift|lift weights|do weights|do weight training|strength train)? ?$",
    "school year": r"im in year (?:[7-9]|1[01])\b(?! (?:of|in))",
    "aged": rf"(?:aged?|who is|shes|hes|is|son|daughter|kid|boy|girl|nephew|niece|grandson|granddaughter|brother|sister|child) (?:only |just |now )?{_NUMBER}\b(?! {_UNITS}\b)",
    "under age": r"(?:our|my|coach\w*|for) (?:under|u) ?(?:[89]|1[0-7])s?\b(?! (?:%|percent|sets?|reps?|kg|g)\b)",
    "adult age": r"(?:1[89]|[2-9]\d) ?(?:yo|y o|yrs?|years?)\b|(?:im|is|am|at|aged|hes|shes|turned) (?:1[89]|[2-9]\d)\b(?! kg)",
    "for a child": r"(?:should|can|may|could|for|give|let|will|put|is) (?:my|our|his|her) (?:\w+ ){0,2}(?:son|daughter|kids?|child|children|boy|girl|teen|teenager|nephew|niece|grandson|granddaughter|toddler)\b",
    "a child wants": r"(?:my|our) (?:\w+ ){0,2}(?:son|daughter|kids?|child|children|boy|girl|teen|teenager|nephew|niece|grandson|granddaughter|little brother|little sister|toddler)(?: \w+){0,2} "
    r"(?:wants?|wanna|needs?|should|must|lifts?|squats|trains(?! (?:me|us)\b)|takes|drinks|is overweight|is obsessed|is chubby|is fat|is too fat)\b",
    "eats": r"go|eat|eats|eating|ate|day|daily|intake|only|diet|live|living|survive|survived|lower|less|still|consume|consuming|down",
    "few calories": rf"{_CALORIES} (?:below|under) [1-9]\d\d|(?:[1-9]\d\d|1[.,]?[01]\d\d|(?:four|five|six|seven|eight|nine) hundred|a thousand) ?{_CALORIES}\b(?! (?:deficit|surplus|more|extra|less|below|under|over|above|meal|snack))",
    "still": r"(?:still|why|no abs|lower|survive|not losing|wont)",
    "calories not eaten": r"(?:deficit|surplus|burn\w*|extra|snack|breakfast|meal|lunch|above maintenance|below maintenance|after training|before training|shake|bar|more calories|of protein)",
    "days of fasting": r"(?:fast|fasts|fasting|fasted) (?:for )?(?:\d+|two|three|four|five|six|seven|ten|several) (?:full )?(?:days?|weeks?)\b(?! (?:a|per|each|every) week)|(?:\d+|two|three|four|five|six|seven|ten) days? (?:water )?fast\b",
    "too fast": rf"(?:lose|drop|losing|shed|cut) (?:[7-9]|[1-9]\d) ?(?:kg|kgs|kilos|pounds|lbs)(?: \w+){{0,4}} in (?:less than )?{_BRIEF}\b(?! (?:months?|years?))",
    "bmi too low": r"bmi (?:\w+ ){0,2}1[0-7]\b",
    "too thin": r"(?:weighs?|weighing|and|am|im|at) (?:2\d|3\d|4[0-4]|45|46|47) ?kg\b(?! (?:dumb|kettle|bar|plate|for|x|squat|bench|more|of))",
    "thin talk": r"(?:still|barely|fat|lose|losing|cut|eats|thin|thinner|smaller|skinnier|skinny)",
    "after food": r"(?:throw\w*|threw|vomit\w*|puk\w+)(?: up)? (?:after|all|my|the|every|up) ?(?:\w+ )?(?:meals?|eating|food|dinner|lunch|protein|what i eat|i eat)|(?:throw up|vomit)(?: \w+){0,4} on purpose|sick after (?:meals|dinner|eating|lunch)",
    "my periods": r"(?<!rest )(?<!time )periods?\b(?! (?:of|between))",
    "hide eating": r"hid(?:e|ing)(?: \w+){0,5} (?:not eating|eating|food)",
    "waters": r"waters? (?:\w+ ){0,3}(?:broke|broken|leak\w*)|(?:losing|lost|leaking) fluid",
    # Said where hope is lost. "I lift until I can't go on" is none of it, nor "I don't want to be here all day" or "to die young".
    "no point": rf"(?:{_NONE} (?:point|sense|purpose|meaning|hope)|lost all hope)(?: (?:in|of|to|with))?(?: my)? {_LIVING}\b|{_NONE} (?:point|hope|purpose|meaning)(?: left| any ?more)? in (?:my )?life\b|see (?:the|any|a|no) (?:point|sense|purpose) any ?more\b(?! (?:of|in|to)\b)"
    r"|nothing (?:has|had|makes?) (?:any |a |much )?(?:point|meaning|sense)(?: left| any ?more| since| without)|(?:life|my life|it all) (?:has|had|makes?) no (?:point|meaning|sense)\b",
    "not worth living": r"(?:life|living|it) (?:isnt|is not|is no longer|doesnt feel|does not feel|not|hardly|barely) (?:really )?worth (?:living|it any ?more)|lifes not worth|(?:my )?life (?:is|feels|seems|has become) (?:so |completely |totally |just )?(?:pointless|meaningless|worthless|hopeless)\b"
    r"|nothing (?:left )?to live for|nothing (?:really )?matters any ?more|(?:my )?life is over\b|lived long enough\b(?! to)|(?:done with|had enough of) (?:my |this )?life\b(?! (?:on|in|as|with|at|of)\b)",
    "cannot go on": rf"{_UNCONDITIONAL}(?:i|she|he)(?: just| really| simply)? {_CANNOT} (?:go on|carry on)(?: living| like this)?(?: any ?more| any longer)\b|{_CANNOT} (?:go on|carry on) (?:living|with (?:my |this )?life)\b|{_CANNOT} live (?:like this|with myself|any ?more)\b"
    rf"|(?:^|[.?!;] )(?:just |i )?{_CANNOT} go on(?= [.?!;]|$)",
    "want an end": rf"(?:{_WANT}|wish|need) (?:it all|everything|the whole thing) to (?:just )?(?:stop|end|be over)\b|(?:{_WANT}|wish) (?:it|this|things) to (?:just )?(?:stop|end|be over) (?:for good|for ?ever)\b"
    r"|(?:(?:want|wants|going|ready|tempted|planning) to|wanna|gonna|(?:thought|think|thinking) (?:about|of)) (?:end|ending) (?:it|everything)\b(?! (?:with|by|on|early|there|off|after|when|at)\b)"
    r"|(?:(?:want|wants|wanted|going|ready|deserve) to|wanna|gonna|might) kms\b|(?:hope|wish) (?:i|it) (?:\w+ )?(?:have|get|had|gives me) a heart attack|(?:make my heart stop|stop my heart)\b(?! (?:racing|pounding|beating|skipping|fluttering|palpit\w*|hurting|rate|from))",
    "want to die": rf"{_NOT_DENIED}(?:(?:want|wants|wanted|ready|deserve|deserves) to|wanna) die\b(?! (?:young|early|earlier|of|from|healthy|happy|fit|strong|before|sooner|too|trying|with)\b)",
    "gone": rf"{_DONT_WANT} (?:be here|be around)(?: any ?more| any longer)\b(?! (?:people|places|men|women)\b)|{_DONT_WANT} wake up(?: any ?more| again| tomorrow)\b(?! (?:sore|stiff|aching|tired|with|and|early|late|at|feeling|in)\b)|{_DONT_WANT} (?:be alive|exist|be on this (?:earth|planet))\b|(?:want|wanted) to (?:just )?not (?:exist|be alive|be here|wake up)\b"
    r"|rather (?:\w+ ){0,5}not wake up\b|(?:not|never) wak(?:e|ing) up (?:again|any ?more)\b|wish(?:ed|es|ing)? (?:that )?(?:i|he|she) (?:was|were|wasnt|werent|had|hadnt|could|would) (?:just )?(?:dead|(?:never )?been born|never born|be dead|die|alive|here any ?more|never wake up|not wake up|disappear)\b"
    r"|(?:notice|care|miss me) if i (?:was|were|just) (?:gone|dead|disappeared|not here)\b|every ?day wishing (?:you|i) hadnt|see (?:myself|himself|herself) living past \d+\b"
    rf"|better off (?:without (?:me|him|her)(?: around| here)?{_ENDS_THERE}|if i (?:was|were|wasnt|werent)\b)|(?:tired|sick|weary) of {_ALIVE}|hate {_ALIVE}|(?:given|gave|giving) up on (?:life|living)\b"
    rf"|(?:(?:lost my|my late) {_KIN}|{_KIN} (?:died|passed))(?: \w+){{0,9}} (?:want to|wanna) (?:be|go) with (?:him|her)\b",
    "harms oneself": r"(?:take|taking|took|end|ended|ending) (?:my|his|her|their) (?:own )?life\b(?! (?:stage|expectancy|span|style|experience|insurance|into|more|seriously|back|in|to|for)\b)|cutting (?:myself|himself|herself)\b(?! (?:off|down|from|some|to|a|shaving|slack|short|out|loose)\b)"
    r"|(?<!will i )(?<!can i )(?<!could i )(?<!am i )(?<!not )(?<!dont )(?<!without )(?<!avoid )(?:harm|harms|harming|harmed) (?:myself|himself|herself|themselves)\b(?! (?:with|by|from|doing|when|lifting|if|on|in)\b)|(?:(?:want|going|like) to|wanna|gonna|might) off myself\b|(?<!dont )(?<!not )(?:(?:want|urge|urges|like) to|wanna|thoughts of|thinking of|think about) hurt(?:ing)? myself\b"
    r"|\b(?:(?:burn|punish) myself (?:when|until|if|by cutting|by burning|because)|hit myself (?:until|because|if i (?:miss|skip|eat)))\b|(?:topped|top|topping) (?:myself|himself|herself)\b(?! (?:up|off)\b)|(?:scars|cuts)(?: \w+){0,4} (?:she|he|they|and) (?:hides|hide)\b",
    "means": r"(?:step|stepping|jump|jumping|walk|walking|throw\w* myself) in front of (?:a |the )?(?:train|car|bus|lorry|truck|traffic)|(?:swerv|driv)\w+ (?:\w+ )?into (?:a |the |oncoming )?(?:wall|tree|traffic|bridge)|(?:have|got|bought) (?:a|the) gun\b|plan and the pills"
    r"|(?:would|does|will|should) it take to kill (?:me|myself)\b|(?:lethal|fatal|deadly) (?:dose|amount)(?: \w+){0,12} (?:quick|painless|quickly|fast|peaceful)\b",
    "thoughts of death": r"(?:think|thinking|thoughts?|thought|fantasi[sz]\w+|dream\w*) (?:of|about) (?:dying|my (?:own )?death|being dead|killing (?:myself|himself|herself)|suicide|ending (?:my life|it all|things for good)|jumping off a (?:bridge|building))\b",
    "dark thoughts": r"(?:have|having|had|get|getting|my|these) (?:\w+ ){0,2}dark thoughts\b",
    "hopeless": r"(?:(?:i|he|she|dad|mum|mom|son|daughter|wife|husband) (?:just |really |always |still |often )?(?:feel|feels|felt)|(?:im|i am|hes|shes|been) (?:just |really |always |still |often )?feeling) (?:so |completely |totally |utterly |just |really )?(?:hopeless|worthless|suicidal)\b(?! (?:at|when|with))",
    "many pills": r"(?:took|swallowed|taken|popped|downed) (?:about |over |nearly |around |like )?(?:(?:[2-9]\d|1\d\d)(?! ?(?:mg|g|mcg|ml|iu|milligrams?|micrograms?|grams?)\b)|a (?:whole )?(?:box|packet|bottle|pack|handful) of) (?:(?!creatine|protein|vitamin|fish|collagen)\w+ ){0,2}?(?:pills|tablets|paracetamol|acetaminophen|tylenol|ibuprofen|aspirin|painkillers|capsules|meds|antidepressants|caffeine)\b",
    "heart racing": r"(?:heart|pulse|heartbeat)(?! rate (?:for|in|during|zone))(?: \w+){0,4} (?:racing|races|raced|pounding|pounds|irregular\w*|skipping|skips|flutter\w*|wont slow|wont calm|wont come down|stopped|going crazy|beating out|beating so|misses|missing beats)\b",
    "cannot breathe": r"(?:cant|cannot|can not|can barely|can hardly|could barely|couldnt|could not|hard to|struggl\w+ to|unable to|trouble|difficult\w*) (?:\w+ )?(?:breathe|breathing|catch my breath|get air|get my breath|breath)\b",
    "cannot feel": r"(?:cant feel|cannot feel|can not feel|lost (?:all )?feeling|lost sensation|loss of (?:feeling|sensation)|no feeling|lose feeling|losing feeling)(?: \w+){0,3} (?:legs?|feet|foot|toes|arms?|hands?|fingers?|face|groin|saddle)\b(?! (?:work|activ|burn|grow|pump|in|during|day))",
    "one side": r"(?:side of (?:my|his|her|the) (?:body|face)|half (?:of )?(?:my|his|her) (?:face|body))(?: \w+){0,4} (?:weak\w*|numb\w*|droop\w*|paraly\w*|went|is)",
    "throat": r"throat(?: \w+){0,3} (?:swell\w*|swollen|clos\w+|tight\w*)|(?:swell\w*|swollen|tight\w*)(?: \w+){0,2} throat|hives and|tongue (?:is )?swell\w*|lips? swell\w*|lips swollen",
    "head injury": r"(?:hit|banged|bumped|dropped|fell|landed)(?: \w+){0,8} (?:head|skull)\b",
    "after a knock": r"(?:being sick|been sick|vomit\w*|dizz\w*|confus\w*|headache|throwing up|blurr\w*|sleepy|nause\w*)",
    "pain in the chest": r"(?:chest|left arm|breastbone) pains?|pains? in (?:the |my |his |her )?(?:chest|left arm)|(?:stopped|not|isnt) breathing",
    "a bite a day": r"(?:i|she|he) (?:only )?(?:eats?|have|has) (?:one|an?|two) (?:apple|salad|cracker|rice cake|yoghurt|yogurt)s? (?:a|per) day",
    "hot swelling": r"(?:hot|red|warm|painful)(?: and)? swollen (?:leg|calf|thigh)|swollen(?: and)? (?:hot|red|warm|painful) (?:leg|calf|thigh)",
    "failing organ": r"(?:liver|kidneys?|heart|lungs?) (?:is|are) (?:\w+ )?(?:failing|enlarged|shutting down|giving up)\b",
    "is it ok": r"(?:is it|its) (?:ok|okay|safe|fine|bad|enough|healthy) to",
    "clotted": r"(?:calf|leg|thigh)(?: \w+){0,4} (?:swollen|swelling|red|hot|warm)(?: \w+){0,6} (?:red|hot|warm|breath|purple|painful)",
    "torn vessel": r"(?:tearing|ripping) pain(?: \w+){0,4} (?:chest|back|blades|abdomen|belly)",
    "saddle": r"numb\w* (?:\w+ ){0,4}(?:between my legs|groin|saddle|crotch|genitals|inner thighs)",
    "do I have": r"(?:(?:do|did|could|might|may|can|have|does|has) (?:i|he|she|my \w+|it|this|that) (?:\w+ )?(?:have(?! to)|got|be|torn|tear|getting|suffering from|break|broken|tore|strain|rupture|damage\w*|pull\w*)|have i got|am i getting|are my \w+ (?:damaged|failing)|i think i (?:have|tore|broke|pulled|got))",
    "which illness": r"(?:what|which) (?:illness|disease|medical condition|injury|nerve|ligament|tendon)\b",
    "did I hurt it": r"did (?:i|he|she|my \w+) (?:\w+ )?(?:injure|pinch|tear|pull|damage|rupture|hurt|break|strain|sprain|dislocate|pop)\b",
    "is it": r"(?:if (?:this|that|it|my) (?:\w+ )?(?:is|was)|(?:could|might|may|can) (?:the|this|that|my) (?:\w+ ){1,6}be|(?<!what )(?<!how common )(?:is|was|could|might|may) (?:it|this|that)(?: be)?|possible|possibly|think (?:it is|its|it might be|ive got)|its|or(?= (?:a|an|my|the|just|only|really)\b)|maybe|probably)(?: (?:a|an|my|the|just|only|really|already))*",
    "forbidden": r"(?:doctor|doc|gp|physio|cardiologist|surgeon|midwife) (?:\w+ ){0,3}(?:not to|no lifting|never to|dont|do not|against|forbids|forbade|advised against)\b",
    "recently": r"(?:last|this) (?:week|month|year)|\w+ (?:days?|weeks?|months?) (?:ago|post|out)|post op|flare|flaring|here|ready for|yesterday|today|recently",
    "starts with": r"^(?:replac\w+|stop\w*|quit\w*|skip\w*|swap\w*|ditch\w*|drop\w*|com\w+ off|taper\w*)",
    "safe to combine": r"(?:is it|would it be|it) (?:\w+ )?(?:dangerous|safe|ok|okay|fine|bad|risky|harmful) to (?:stop|combine|mix|skip|halve|quit|replace|come off|double|drop|miss)",
    "may I change": r"(?:can|should|could|may|do|must|ok to|safe to|fine to|want to|going to|thinking of) (?:i |we |he |she )?(?:\w+ ){0,2}(?:stop|drop|skip|quit|halve|reduce|lower|change|adjust|double|need|come off|mix|combine|miss|swap|switch|leave (?:it|them) out)",
    "best drug": r"(?:best|safest|strongest|which|recommended|first) (?:\w+ ){0,2}(?:steroids?|anabolics?|peds?|diuretics?|growth hormone|insulin)\b",
    "on drugs": r"(?:im|i am|ive been|he is|hes|going) (?:currently )?(?:on|taking|using|running) (?:\w+ ){0,2}(?:testosterone|steroids?|anabolics?|gh|trt|growth hormone|epo|peds?|gear)\b",
    "amount": r"\d+ ?(?:g|grams?|mg|pills|tablets)\b",
    "insulin treatment": r"(?:(?:my|his|her|take|taking|inject|injecting|less|more|skip|stop|adjust|need|reduce) insulin|(?:im|i am|is|hes|shes) on insulin)\b(?! (?:resist|sensit|level|response|spike))",
    "weeks along": r"(?:[1-9]|[1-3]\d|4[0-2]) ?(?:weeks|wks)\b",
    "lump": r"(?:whats|what is|found|have|got|is|a|my|the|this) (?:\w+ ){0,3}(?:lump|bulge)\b",
    "loading pressure": r"(?:1[4-9]\d|2[0-4]\d)(?: over)? (?:9\d|1[0-3]\d)\b",
    "number": r"\d+(?:[.,]\d+)*",
    "hearsay": r"(?:heard|read|told) (?:that )?(?:\w+ ){1,8}?(?:gives?|causes?|leads? to) (?:you |to )?(?:broken|fractured|weak|brittle) (?:hips?|bones?)\b",
    "of the test": r"(?:blood test|bloods|blood work|bloodwork|lab results|test results)",
    "doping doses": r"[2-9]\d\d (?:mg )?(?:of )?test\b(?! (?:subjects|results|people))|\d+ ?(?:mg|iu|ml|mcg) (?:\w+ ){0,2}(?:test|tren|deca|var|clen|gh|hgh)\b",
    "own pills": r"(?:(?:my|his|her|heart|blood pressure|bp|diabetes|epilepsy|thyroid|sleeping|cholesterol|water|anxiety|depression|pain|blood|arthritis)"
    r"(?! (?:creatine|protein|vitamin|caffeine|fish|zinc|supplement)) ?(?:\w+ ){0,1}(?:pills?|tablets?|drugs?|meds|injections?))\b(?<!creatine pills)(?<!protein pills)",
    "classes of medicine": r"(?!april\b)\w{3,}(?:pril|sartan|olol|dipine|statin|gliptin|gliflozin|glutide|oxetine|azepam|parin|xaban)\b(?<!myostatin)(?<!somatostatin)(?<!follistatin)",
}  # fmt: skip

# --- Rules -------------------------------------------------------------------------------------------------------------

Condition = Callable[[str], bool]


@cache
def _expression(name: str) -> str:
    """The words or the form of this name, between the bounds of words."""
    if name in FORMS:
        return rf"\b(?:{FORMS[name]})\b"
    phrases = sorted((" ".join(phrase.split()) for phrase in WORDS[name].split(",")), key=lambda p: (-len(p), p))
    alternatives = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in phrases)
    return rf"\b(?:{alternatives})\b"


@cache
def _compiled(*expressions: str) -> re.Pattern[str]:
    return re.compile("".join(expressions))


@lru_cache(maxsize=1_000)
def _hears(name: str, said: str) -> bool:
    """Kept for a while, because many rules ask for the same names of one question."""
    return _compiled(_expression(name)).search(said) is not None


def heard(*names: str) -> Condition:
    """One of these stands in the question."""
    return lambda said: any(_hears(name, said) for name in names)


def unheard(*names: str) -> Condition:
    """None of these does."""
    return lambda said: not any(_hears(name, said) for name in names)


def then(first: str, second: str, within: int = 30) -> Condition:
    """Both, in one sentence and in this order, at most so many letters apart."""
    expressions = _expression(first), rf"[^.]{{0,{within}}}?", _expression(second)

    def holds(said: str) -> bool:
        return _hears(first, said) and _hears(second, said) and _compiled(*expressions).search(said) is not None

    return holds


def near(first: str, second: str, within: int = 30) -> Condition:
    """Both, in one sentence and in either order, at most so many letters apart."""
    either = then(first, second, within), then(second, first, within)
    return lambda said: any(holds(said) for holds in either)


INSTEAD = (
    "What this site can do: say what published studies found about training, protein, supplements and exercise in later life, with each sentence "
    "tied to its source. Ask about a group of people rather than about one person's health."
)


@dataclass(frozen=True, slots=True)
class Route:
    """A kind of question, its built-in reply, and the rules that send a question there: all parts of one must hold."""

    name: str
    message: str
    rules: tuple[tuple[Condition, ...], ...]
    instead: str = INSTEAD
    """What the site can do, told after the message; empty where that is beside the point."""

    def takes(self, said: str) -> bool:
        return any(all(holds(said) for holds in rule) for rule in self.rules)


MEDICINES = ("named medicine", "classes of medicine", "own pills")

DESPAIR = (
    "no point",
    "not worth living",
    "cannot go on",
    "want an end",
    "want to die",
    "gone",
    "thoughts of death",
    "means",
)

ROUTES = (
    Route(
        "crisis",
        "What you write sounds heavy, and you need not carry it alone. If you or someone near you might come to harm, call your local emergency "
        "number now (112 in Europe, 999 in the UK, 911 in North America). Someone to talk to, day and night: 116 123 in the UK, Ireland and many "
        "other countries of Europe, 988 in the United States and Canada. Please also tell somebody close to you, and a doctor. "
        "A library of studies is not what helps now.",
        (
            (heard("self harm", "hopeless", "dark thoughts"),),
            (heard("harms oneself"), unheard("told of a group")),
            (heard("suicidal"), heard("mine"), unheard("studied")),
            (heard(*DESPAIR), heard("myself")),
            (heard(*DESPAIR), unheard("studied")),
        ),
        instead="",
    ),
    Route(
        "emergency",
        "This may be an emergency, and it is nothing that a library of studies can help with. Stop exercising now. If someone may be "
        "in danger, call your local emergency number (112 in Europe, 999 in the UK, 911 in North America) or have someone take you to "
        "an emergency department at once. When it is safe, ask a doctor before you train again.",
        (
            (near("chest", "alarm pain"), heard("mine")),
            (near("chest", "alarm pain"), heard("person", "urgent"), unheard("group")),
            (near("limb", "numb"), heard("person", "urgent"), unheard("group")),
            (heard("cannot feel", "one side", "saddle", "clotted"), heard("person")),
            (heard("hot swelling", "pain in the chest"), unheard("group", "general")),
            (heard("cannot breathe"), heard("person", "urgent")),
            (near("breathless", "chest", 60), heard("person")),
            (heard("faint"), heard("person"), unheard("studied")),
            (heard("faint"), heard("urgent"), unheard("group", "general")),
            (heard("stroke signs", "throat", "torn vessel"), unheard("studied", "general")),
            (near("alarm pain", "sweating", 40), unheard("group", "general")),
            (heard("heart racing", "palpitations"), heard("person", "urgent"), unheard("group")),
            (near("urine", "dark"), heard("person", "urgent")),
            (near("lost", "bladder", 25), heard("person")),
            (heard("blood coming", "wet"),),
            (heard("head injury"), heard("after a knock"), heard("person")),
            (near("confused", "heat", 60), unheard("group")),
            (heard("poisoned"), heard("person"), unheard("studied")),
            (heard("many pills"), unheard("studied")),
        ),
    ),
    Route(
        "pregnancy",
        "How to train in pregnancy is for the midwife or doctor who looks after you to say. With any symptom or complication, please pause "
        "training and speak to them today rather than tomorrow; call the emergency number if there is bleeding, strong pain or faintness. This site gives no advice on it.",
        (
            (heard("pregnancy"), heard("complication"), heard("person"), unheard("studied")),
            (heard("pregnancy"), heard("complication of pregnancy"), unheard("group", "prevent", "general")),
            (heard("pregnancy complication"), heard("asks"), unheard("group", "prevent", "general")),
            (heard("alarm in pregnancy"), unheard("studied")),
            (heard("waters"), heard("pregnancy", "weeks along", "mine"), unheard("studied")),
            (near("weeks along", "complication of pregnancy", 40), heard("asks", "urgent"), unheard("group", "general")),
            (heard("expecting"), heard("mine"), heard("asks"), unheard("studied")),
        ),
    ),
    Route(
        "eating",
        "What you describe deserves care rather than a training or diet plan, and this site will not give numbers for it. Please talk to "
        "your doctor, or to an eating-disorder helpline in your country; both are used to these questions and do not judge. If you feel faint, "
        "have chest pain or think of harming yourself, call the emergency number.",
        (
            (heard("disorder"), heard("person"), unheard("studied")),
            (heard("purging", "not eating"), unheard("studied")),
            (heard("after food", "hide eating", "too fast"), unheard("group")),
            (heard("laxatives"), heard("weight loss"), unheard("studied")),
            (near("binge", "undo", 40), heard("mine")),
            (near("few calories", "eats", 40), heard("mine"), unheard("calories not eaten", "group")),
            (heard("few calories"), heard("still", "is it ok"), heard("eats"), unheard("calories not eaten", "group")),
            (heard("a bite a day"),),
            (heard("days of fasting"), heard("mine"), unheard("studied")),
            (heard("dread"), unheard("studied")),
            (near("loses", "my periods", 20), heard("dieting"), heard("person", "few calories"), unheard("studied")),
            (heard("bmi too low"), heard("mine"), unheard("studied")),
            (heard("too thin"), heard("thin talk"), unheard("studied")),
        ),
    ),
    Route(
        "minor",
        "Training, diets and supplements for children and teenagers need someone who knows the child: a paediatrician, a family doctor or a "
        "qualified youth coach, together with a parent. Most studies here are on adults, and this site gives no plan for anyone under 18.",
        (
            (heard("I am a child"), unheard("adult age")),
            (heard("a child's age"), heard("old"), heard("training topic"), unheard("studied")),
            (heard("a child's age"), heard("training topic"), heard("person", "urgent", "asks"), heard("child", "youth", "mine"), unheard("studied")),
            (heard("aged"), heard("child"), heard("training topic"), unheard("studied", "adult age")),
            (heard("under age"), heard("training topic"), unheard("studied")),
            (heard("for a child", "a child wants"), heard("training topic"), unheard("studied", "adult age")),
            (heard("youth", "school year"), heard("person", "how do i", "asks"), heard("training topic"), unheard("group", "studied", "whether the young may lift")),
            (heard("the young"), heard("eating less"), unheard("studied")),
        ),
    ),
    Route(
        "drugs",
        "This site gives no doses or schedules for medicines, hormones or doping substances, whoever asks: taken without a doctor they can "
        "do lasting harm or kill. If you take or are thinking of taking them, a doctor or a drug advice service can talk it through in confidence.",
        (
            (heard("doping"), heard("dosing", "getting", "wanting", "mine"), unheard("studied")),
            (near("hormone", "dosing", 25), unheard("studied", "physiology", "prescribed")),
            (near("hormone", "getting", 40), unheard("studied", "physiology", "prescribed")),
            (heard("best drug", "on drugs"), unheard("studied", "physiology")),
            (near("painkiller", "dosing", 40), heard("taking"), unheard("studied", "physiology")),
            (near("painkiller", "amount", 20), heard("taking"), unheard("studied", "physiology")),
            (heard("cycle", "doping doses"), unheard("studied")),
        ),
    ),
    Route(
        "medicine",
        "Whether to start, stop or change a medicine, and how to eat and train with it, is a question for the doctor who prescribed it: stopping some "
        "of them suddenly is dangerous, however well training goes. Please ask your doctor or pharmacist first. This site can tell you what studies found about training in groups of people, "
        "not what is right for your treatment.",
        (
            *((then("change", medicine), heard("mine"), unheard("studied")) for medicine in MEDICINES),
            *((then(medicine, "may I change", 60), unheard("studied")) for medicine in MEDICINES),
            *((near(medicine, "on it"), heard("permission"), heard("mine"), unheard("studied", "physiology")) for medicine in MEDICINES),
            *((near("mixes", medicine), heard("mine"), unheard("studied")) for medicine in MEDICINES),
            *((then("starts with", medicine), unheard("group")) for medicine in MEDICINES),
            *((then("safe to combine", medicine), unheard("group")) for medicine in MEDICINES),
            (heard("own pills", "insulin treatment"), heard("asks"), heard("mine"), unheard("studied")),
            (near("painkiller", "on it", 20), heard("permission"), unheard("studied", "physiology")),
        ),
    ),
    Route(
        "personal_medical",
        "That depends on your own health, which only the people who treat you know. Please ask the doctor who looks after you before you change your training or diet. "
        "This site can tell you what studies found in groups of people, not what is safe for you.",
        (
            (then("has", "serious", 40), heard("mine"), heard("permission"), unheard("studied", "do I have", "prevent")),
            (then("my", "serious", 8), heard("permission"), unheard("studied", "do I have", "prevent")),
            (then("with", "serious", 12), heard("mine"), heard("permission"), unheard("studied", "prevent")),
            (then("after", "serious", 25), heard("mine"), heard("permission"), unheard("studied", "prevent")),
            (heard("serious"), heard("mine"), heard("permission"), unheard("group", "prevent", "general", "do I have")),
            (near("serious", "recently"), heard("permission"), unheard("group")),
            (then("diagnosed", "serious", 40), heard("permission"), unheard("group", "prevent")),
            (then("ive", "serious", 3), heard("permission"), unheard("studied")),
            (heard("forbidden"), heard("mine")),
            (heard("failing organ"), heard("mine"), unheard("studied")),
            (heard("fever"), heard("mine"), heard("asks")),
            (heard("specialist"), heard("asks")),
            (near("laboratory", "number", 20), heard("mine", "here"), heard("asks"), unheard("studied")),
            (near("laboratory", "high", 20), heard("my"), heard("asks"), unheard("studied")),
            (near("pressure", "loading pressure"), heard("asks"), unheard("studied")),
        ),
    ),
    Route(
        "diagnosis",
        "This sounds like something to be looked at, and no website can examine you. What a test shows is for the doctor who had it done to explain. "
        "With an injury, please rest the part and see a doctor or physiotherapist, soon if it is swollen, misshapen, numb, weak or very painful. "
        "This site cannot say what is wrong or which exercise would help.",
        (
            (heard("diagnose"), unheard("studied")),
            (near("injured", "joint"), heard("mine"), unheard("group", "prevent", "hearsay")),
            (near("injured", "muscle"), heard("mine"), unheard("studied", "prevent", "gym")),
            (near("sharp", "joint", 40), heard("mine"), unheard("studied")),
            (near("sharp", "muscle", 40), heard("mine"), unheard("studied")),
            (near("sore", "joint"), heard("mine"), unheard("studied", "prevent")),
            (near("do I have", "illness", 25), unheard("studied", "prevent")),
            (then("is it", "illness", 1), unheard("studied", "prevent", "group")),
            (near("sharp", "joint"), heard("urgent"), unheard("group", "prevent", "general")),
            (heard("which illness"), heard("mine"), unheard("studied", "prevent")),
            (heard("did I hurt it"), unheard("studied", "prevent")),
            (heard("unwell"), heard("mine"), heard("urgent"), unheard("studied", "harmless tingle")),
            (heard("alarming"), heard("mine"), unheard("studied", "prevent", "general")),
            (near("urine", "foamy"), heard("mine"), unheard("studied")),
            (near("scan", "asks"), heard("injured", "joint", "sore"), unheard("group")),
            (heard("lump"), unheard("group")),
            (heard("of the test"), heard("my"), unheard("studied")),
            (near("laboratory", "number", 20), heard("illness"), heard("mine")),
        ),
    ),
)  # fmt: skip


# --- Hearing a question ------------------------------------------------------------------------------------------------

# Words of the tables that are often misspelt, and that no other English word is a letter away from.
OFTEN_MISSPELT = """testosterone steroid steroids trenbolone clenbuterol nandrolone stanozolol dianabol sustanon winstrol ostarine ephedrine anavar
    metformin antidepressants antidepressant warfarin prednisone levothyroxine ibuprofen ozempic
    laxatives laxative anorexia anorexic bulimia bulimic vomiting pregnant pregnancy contractions
    unconscious seizure seizures palpitations fainted numbness
    dislocated herniated ruptured sprained shoulder shoulders hernia diabetes epilepsy calories""".split()
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[.?!;\n]")


# Years that are a duration and no age. Up to seven they are one wherever nobody is said to be of that age: so young nobody asks. From eight
# on only words that say so make them one: "have trained for about 9 years", "the last 12 years".
_FEW = r"(?:[1-7]|one|two|three|four|five|six|seven)"
_OF_AGE = "my our his her a an at by is am im hes shes are was age aged turn turns turned turning almost nearly reached completed".split()
_NOT_OF_AGE = "".join(rf"(?<!\b{word} )" for word in _OF_AGE) + r"(?<![\d.,/-])"
_ABOUT = r"(?:(?:about|around|roughly|almost|nearly|over|like|only|just|maybe|at least|more than|less than|close to|on and off|a good|well over|the last|the past) ){0,3}"
_NOBODY = (
    r"\b(?![ ,(-]*(?:old|of (?:my )?age|age\b|(?:\w+ )?(?:boy|girl|kid|child|teen\w*|son|daughter|lad|lass|male|female|[mf]\b|athlete|swimmer|player|footballer|"
    r"gymnast|wrestler|runner)))"
)
_TRAINED = (
    r"(?:lifting|lifted|training|trained|exercising|exercised|working out|worked out|doing|done|going|gone|running|cycling|swimming|rowing|playing|played|eating|"
    r"taking|taken|using|used|dieting|fasting|coaching|competing|married|vegan|vegetarian|at it|at this)"
)


def _years(number: str) -> str:
    return rf"{number}(?:(?: ?[-–] ?| or | to ){_NUMBER})? ?(?:years|yrs|(?<=\b1 )year|(?<=\bone )year){_NOBODY}"


_FEW_YEARS = re.compile(rf"\b{_NOT_OF_AGE}{_years(_FEW)}")
_MANY_YEARS = re.compile(_years(_NUMBER))
_LASTED = re.compile(
    rf"\b(?:have|has|had|ive|weve|youve|theyve|hes|shes|wifes|husbands|been) (?:(?:been|also|now|both|consistently|regularly) )*{_TRAINED} "
    rf"(?:(?!(?:a|an|my|at|by|from|with|if|and|am|im|is|before|under|since i)\b)[a-z]+ ){{0,2}}?(?:for |since )?{_ABOUT}{_years(_NUMBER)}"
    rf"|\b(?:i|we|he|she|who|clients?|wife|husband|mum|mom|dad) (?:lifted|trained|worked out|exercised) (?:for |on and off ){_ABOUT}{_years(_NUMBER)}"
    rf"|\bim (?:an? )?(?:vegan|vegetarian|married) for {_ABOUT}{_years(_NUMBER)}"
    rf"|\b(?:for|over|during|in) (?:the )?(?:last|past) {_years(_NUMBER)}|\b(?:training|lifting) age (?:is|of) {_ABOUT}{_years(_NUMBER)}"
    rf"|\b{_years(_NUMBER)} (?:of (?:\w+ )?)?(?:(?:lifting|training) experience|under (?:my|his|her|their) belt|postpartum|sober|married)\b"
)


def _without_durations(plain: str) -> str:
    lasted = _LASTED.sub(lambda match: _MANY_YEARS.sub("long", match[0]), plain)
    return _FEW_YEARS.sub("long", lasted)


def check_scope(text: str) -> Declined | None:
    """The reply's route for a question that must not be answered from studies, with the built-in words; None for all others."""
    said = _spoken(text)
    for route in ROUTES:
        if route.takes(said):
            return Declined(Outcome.GUARDRAIL, route.name, with_instead(route.message, route.instead))
    return None


def with_instead(message: str, instead: str) -> str:
    return f"{message}\n\n{instead}" if instead else message


def _spoken(text: str) -> str:
    """Words and figures alone, in lower case, misspellings mended, each sentence's end as a full stop.

    Where years would be heard as a child's age and no child is named, those that are a duration are "long".
    """
    plain = folded(text).replace("'", "")
    said = _in_words(plain)
    if _hears("a child's age", said) and not heard("child", "youth")(said):
        said = _in_words(_without_durations(plain))
    return said


def _in_words(plain: str) -> str:
    return " ".join("." if word in ".?!;\n" else _mended(word) for word in _TOKEN.findall(plain))


def _mended(word: str) -> str:
    """The word of `OFTEN_MISSPELT` that is a letter too much, too few, wrong or swapped away; else the word itself."""
    if len(word) < 5 or word in _KNOWN:
        return word
    for shorter in _without_a_letter(word):
        if (meant := _MISSPELT.get(shorter)) and meant[0] == word[0] and abs(len(meant) - len(word)) < 2:
            return meant
    return word


def _without_a_letter(word: str) -> list[str]:
    return [word, *(word[:n] + word[n + 1 :] for n in range(len(word)))]


_KNOWN = frozenset(re.findall(r"\w+", " ".join((*WORDS.values(), *OFTEN_MISSPELT))))
_MISSPELT = {shorter: word for word in reversed(OFTEN_MISSPELT) for shorter in _without_a_letter(word)}
